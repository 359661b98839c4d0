import { fileURLToPath } from "node:url";
import type { CreateElicitationRequest, McpServer } from "@agentclientprotocol/sdk";
import { expect, it, onTestFinished } from "vitest";
import { takeRewrites } from "../../../packages/ai/test/stable-prefix.ts";
import { HttpFixture } from "../../../packages/mcp/src/__fixtures__/http-server.ts";
import { Editor, type EditorSetup } from "./support/acp-editor.ts";

const program = fileURLToPath(
  new URL("../../../packages/mcp/src/__fixtures__/stdio-server.ts", import.meta.url),
);
const tool = (name: string) => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: "object" },
});

/** A server that the editor configures; runs the fixture of the MCP tests. */
function server(behaviour: object, env: { name: string; value: string }[] = []): McpServer {
  return {
    name: "my server",
    command: process.execPath,
    args: [program, JSON.stringify(behaviour)],
    env,
  };
}

const calling = (name: string, args: object = {}) => [
  {
    repeat: true,
    when: { hasToolResults: false },
    content: [{ type: "toolCall" as const, name, arguments: { ...args } }],
  },
  { repeat: true, when: { hasToolResults: true }, content: "Done." },
];

async function open(setup: EditorSetup, mcpServers: McpServer[]) {
  const editor = await Editor.start(setup);
  const { cwd } = editor.place;
  const { sessionId } = await editor.agent.request("session/new", { cwd, mcpServers });
  return { editor, sessionId };
}

const results = (editor: Editor, sessionId: string) =>
  editor
    .of(sessionId, "tool_call_update")
    .flatMap(({ rawOutput }) => (rawOutput ? [rawOutput] : []));

it("calls the tools of an editor's MCP server, with its environment", async () => {
  const { editor, sessionId } = await open({ scenario: calling("mcp__my_server__environment") }, [
    server({ tools: [tool("environment")] }, [{ name: "FROM_EDITOR", value: "yes" }]),
  ]);
  expect(await editor.prompt(sessionId, "go")).toEqual({ stopReason: "end_turn" });
  expect(editor.of(sessionId, "tool_call")[0]).toMatchObject({ kind: "other" });
  expect(JSON.stringify(results(editor, sessionId))).toContain("FROM_EDITOR");
  const other = await editor.open();
  await editor.prompt(other.sessionId, "go");
  expect(JSON.stringify(results(editor, other.sessionId))).toContain("not found");
});

it("offers a server's prompts as commands and shows its questions as forms", async () => {
  const asked: CreateElicitationRequest[] = [];
  const question = {
    message: "How many?",
    requestedSchema: {
      type: "object",
      properties: { count: { type: "integer" } },
      required: ["count"],
    },
  };
  const { editor, sessionId } = await open(
    {
      scenario: calling("mcp__my_server__ask", question),
      capabilities: { elicitation: { form: {} } },
      answers: (app) =>
        app.onRequest("elicitation/create", ({ params }) => {
          asked.push(params);
          return { action: "accept", content: { count: 3 } };
        }),
    },
    [server({ tools: [tool("ask")], prompts: [{ name: "review", description: "Reviews" }] })],
  );
  await editor.until(() =>
    editor
      .of(sessionId, "available_commands_update")
      .some((update) =>
        update.availableCommands.some(({ name }) => name === "mcp__my_server__review"),
      ),
  );
  await editor.prompt(sessionId, "go");
  expect(asked).toMatchObject([
    {
      sessionId,
      mode: "form",
      message: "my server: How many?",
      requestedSchema: question.requestedSchema,
    },
  ]);
  expect(asked[0]).toHaveProperty("toolCallId", "call_0_0");
  expect(JSON.stringify(results(editor, sessionId))).toContain('\\"count\\":3');
});

const pages = (
  onPage: (asked: CreateElicitationRequest & { url: string }) => void,
): Pick<EditorSetup, "capabilities" | "answers"> => ({
  capabilities: { elicitation: { url: {} } },
  answers: (app) =>
    app.onRequest("elicitation/create", ({ params }) => {
      onPage(params as CreateElicitationRequest & { url: string });
      return { action: "accept" };
    }),
});
const completed = (editor: Editor) =>
  editor.seen.flatMap(({ message }) =>
    message.method === "elicitation/complete" ? [message.params] : [],
  );

it("shows a server's pages as links and tells the editor when they are done", async () => {
  const asked: CreateElicitationRequest[] = [];
  const page = { message: "Pay", mode: "url", url: "https://a.example/pay", elicitationId: "7" };
  const { editor, sessionId } = await open(
    { scenario: calling("mcp__my_server__ask", page), ...pages((one) => asked.push(one)) },
    [server({ tools: [tool("ask")] })],
  );
  await editor.prompt(sessionId, "go");
  expect(asked).toMatchObject([
    { sessionId, mode: "url", url: page.url, message: "my server: Pay" },
  ]);
  await editor.until(() => completed(editor).length > 0);
  const { elicitationId } = asked[0] as { elicitationId?: string };
  // Another server may use the same id, so the editor gets a different one.
  expect(elicitationId).not.toBe("7");
  expect(completed(editor)).toEqual([{ elicitationId }]);
});

it("offers the login of a server as a link, once", async () => {
  const web = await HttpFixture.start();
  onTestFinished(() => web.stop());
  web.tokens = new Set();
  const asked: CreateElicitationRequest[] = [];
  const entry: McpServer = { type: "http", name: "web", url: web.url, headers: [] };
  const { editor, sessionId } = await open(
    {
      scenario: calling("mcp__web__hello"),
      ...pages((one) => {
        asked.push(one);
        void fetch(one.url);
      }),
    },
    [entry],
  );
  await editor.until(() => completed(editor).length > 0);
  expect(asked).toMatchObject([{ sessionId, mode: "url", message: "Log in to web" }]);
  expect(completed(editor)).toEqual([
    { elicitationId: (asked[0] as { elicitationId?: string }).elicitationId },
  ]);
  await editor.prompt(sessionId, "go");
  expect(JSON.stringify(results(editor, sessionId))).toContain("called hello");
  web.neededScope = "write";
  await editor.prompt(sessionId, "go");
  await editor.until(() => completed(editor).length > 1);
  expect(web.lastPage?.get("scope")?.split(" ")).toContain("write");
});

it("does not offer a declined login again", async () => {
  const web = await HttpFixture.start();
  onTestFinished(() => web.stop());
  web.tokens = new Set();
  let count = 0;
  const entry: McpServer = { type: "http", name: "web", url: web.url, headers: [] };
  const { editor } = await open(
    {
      scenario: ["fine"],
      capabilities: { elicitation: { url: {} }, session: { notices: {} } },
      answers: (app) =>
        app.onRequest("elicitation/create", () => {
          count += 1;
          return { action: "decline" };
        }),
    },
    [entry],
  );
  const notices = () =>
    editor.said.flatMap(({ update }) => (update.sessionUpdate === "notice" ? [update.title] : []));
  await editor.until(() => notices().some((title) => title.includes("not opened")));
  const { cwd } = editor.place;
  const again = await editor.agent.request("session/new", { cwd, mcpServers: [entry] });
  await editor.prompt(again.sessionId, "go");
  const isWanted = () => editor.of(again.sessionId, "notice").length > 0;
  await editor.until(isWanted);
  expect(count).toBe(1);
});

it("resolves a link to a server's resource to its content", async () => {
  const resources = [{ uri: "note://1", name: "First" }];
  const { editor, sessionId } = await open({ scenario: ["Read.", "Again."] }, [
    server({ resources }),
  ]);
  const link = (uri: string) => ({ type: "resource_link" as const, name: "First", uri });
  const blocks = [{ type: "text" as const, text: "Read " }, link("note://1"), link("note://2")];
  expect(await editor.prompt(sessionId, blocks)).toEqual({ stopReason: "end_turn" });
  const { cwd } = editor.place;
  await editor.agent.request("session/close", { sessionId });
  await editor.agent.request("session/load", { sessionId, cwd, mcpServers: [] });
  const said = editor.of(sessionId, "user_message_chunk").map(({ content }) => content);
  expect(said).toEqual([
    { type: "text", text: "Read [First](note://1)[First](note://2)" },
    { type: "text", text: '<file name="note://1">\nthe content\n</file>' },
  ]);
});

it("reports a server that cannot start and continues the session", async () => {
  const { editor, sessionId } = await open(
    { scenario: ["fine"], capabilities: { session: { notices: {} } } },
    [{ name: "broken", command: "/no/such/program", args: [], env: [] }],
  );
  expect(await editor.prompt(sessionId, "go")).toEqual({ stopReason: "end_turn" });
  await editor.until(() =>
    editor.of(sessionId, "notice").some(({ title }) => title.includes("broken")),
  );
});

it("starts the servers that the editor sends when it loads a session", async () => {
  const { editor, sessionId } = await open(
    { scenario: calling("mcp__my_server__echo", { message: "hi" }) },
    [],
  );
  await editor.prompt(sessionId, "without");
  const load = {
    sessionId,
    cwd: editor.place.cwd,
    mcpServers: [server({ tools: [tool("echo")] })],
  };
  await editor.agent.request("session/load", load);
  await editor.prompt(sessionId, "open");
  await editor.agent.request("session/close", { sessionId });
  await editor.agent.request("session/resume", load);
  await editor.prompt(sessionId, "from the disk");
  const texts = results(editor, sessionId).map((one) => (one as { text: string }).text);
  expect(texts.filter((text) => text.includes("echo: hi"))).toHaveLength(2);
  expect(new Set(takeRewrites())).toEqual(new Set(["the tools"]));
});
