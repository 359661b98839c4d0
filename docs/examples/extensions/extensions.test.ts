import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createStream } from "@tau-agent/ai";
import { type Scenario, scriptedModel, scriptedProvider } from "@tau-agent/ai/testing";
import { type CreateAgentSessionOptions, createAgentSession } from "@tau-agent/coding-agent";
import { createHostModules } from "@tau-agent/coding-agent/host-modules";
import type { ExtensionUiRequest, SessionEvent } from "@tau-agent/rpc-protocol";
import { describe, expect, it, onTestFinished } from "vitest";
import { recordFrames } from "../../../apps/cli/test/recording/record-host.ts";

type Answers = (request: ExtensionUiRequest) => Record<string, unknown> | undefined;

/** A session with one of the examples; `answer` plays the client. */
async function sessionWith(
  name: string,
  scenario: Scenario = ({ index }) => `reply ${index}`,
  {
    answer = () => undefined,
    ...overrides
  }: Partial<CreateAgentSessionOptions> & {
    answer?: Answers;
    flags?: Record<string, string | true>;
  } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "tau-example-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const cwd = join(folder, "project");
  mkdirSync(cwd);
  const places = {
    cwd,
    agentDirectory: join(folder, "agent"),
    homeDirectory: folder,
    temporaryDirectory: folder,
    environment: { PATH: process.env.PATH },
  };
  const model = scriptedModel();
  const provider = scriptedProvider(scenario);
  const requests: ExtensionUiRequest[] = [];
  const { flags = {}, ...given } = overrides as { flags?: Record<string, string | true> };
  const session = await createAgentSession({
    ...places,
    model,
    providers: [
      {
        id: model.provider,
        isKeyless: true,
        usesAuthHeader: false,
        models: () => [],
        headers: () => ({}),
      },
    ],
    stream: createStream({ providers: { scripted: async () => provider } }),
    extensions: {
      paths: [fileURLToPath(new URL(name, import.meta.url))],
      mode: "rpc",
      flagValues: new Map(Object.entries(flags)),
      hostModules: async () => createHostModules({ ...places, version: "0.0.0" }),
      sendUiRequest: (request) => {
        requests.push(request);
        recordFrames([request]);
        const { id } = request;
        const given = answer(request);
        if (given) session.hooks?.answer({ type: "extension_ui_response", id, ...given });
      },
    },
    ...given,
  });
  onTestFinished(() => session.dispose());
  const events: SessionEvent[] = [];
  session.subscribe((event) => {
    events.push(event);
    recordFrames([event]);
  });
  expect(session.diagnostics).toEqual([]);
  const notices = () =>
    requests.flatMap((request) => (request.method === "notify" ? [request.message] : []));
  return { session, events, requests, notices, folder };
}

const call = (name: string, args: Record<string, unknown>) => ({
  content: [{ type: "toolCall" as const, name, arguments: args }],
});

type Test = Awaited<ReturnType<typeof sessionWith>>;

function toolTexts({ session }: Test): string[] {
  return session.messages.flatMap((message) =>
    message.role === "toolResult"
      ? message.content.map((block) => (block.type === "text" ? block.text.trim() : ""))
      : [],
  );
}

/** What the host writes itself into custom entries. */
const ofHost = ["environment", "request_setup"];

/** Entries of a type, without those of the host. */
function entries({ session }: Test, type: string) {
  const all = session.log.tree.entries as unknown as readonly Record<string, unknown>[];
  return all.filter((entry) => entry.type === type && !ofHost.includes(String(entry.customType)));
}

describe("tools", () => {
  it("of an extension are offered to the model and run", async () => {
    const test = await sessionWith("tool.ts", [
      call("greet", { name: "Ada", tone: "loud" }),
      "done",
    ]);
    await test.session.prompt("greet her");
    expect(toolTexts(test)).toEqual(["HELLO, ADA!"]);
    expect(await test.session.buildSystemPrompt()).toContain("Greet somebody");
    expect(test.events.some(({ type }) => type === "tool_execution_update")).toBe(true);
  });

  it("return results as data, too", async () => {
    const test = await sessionWith("structured-tool.ts", [call("add", { a: 1, b: 2 }), "done"]);
    await test.session.prompt("add them");
    expect(test.session.messages.find(({ role }) => role === "toolResult")).toMatchObject({
      content: [{ type: "text", text: "3" }],
      structuredContent: { sum: 3 },
    });
  });

  it("run other tools, whose calls reach handlers like the model's own", async () => {
    const test = await sessionWith("nested-tools.ts", [
      call("read_all", { paths: ["a.txt", "none.txt"] }),
      "done",
    ]);
    writeFileSync(join(test.folder, "project", "a.txt"), "in a");
    await test.session.prompt("read them");
    expect(toolTexts(test)).toEqual(["in a", expect.stringContaining("none.txt")]);
  });

  it("of MCP servers are for an extension that connects to them", async () => {
    const test = await sessionWith("mcp-servers.ts");
    await test.session.prompt("/add-server more");
    expect(entries(test, "custom").map(({ data }) => data)).toEqual([["docs"], ["docs", "more"]]);
  });

  it("replace built-in ones of the same name", async () => {
    const test = await sessionWith("replaced-bash.ts", [
      call("bash", { command: "echo hi" }),
      "done",
    ]);
    await test.session.prompt("run it");
    expect(toolTexts(test)).toEqual(["hi"]);
    expect(entries(test, "custom")).toMatchObject([
      { customType: "noted-command", data: { command: "echo hi" } },
    ]);
  });

  it("are blocked when the user says no, and their results are changed", async () => {
    const scenario = [
      call("bash", { command: "rm -rf x" }),
      call("bash", { command: "echo sk-abc" }),
      "done",
    ];
    const answer: Answers = ({ method }) =>
      method === "confirm" ? { confirmed: false } : undefined;
    const test = await sessionWith("guard.ts", scenario, { answer });
    await test.session.prompt("go");
    expect(toolTexts(test)).toEqual(["Deleting files was not allowed", "[secret]"]);
  });

  it("are switched by an extension, which receives changes of model and level", async () => {
    const test = await sessionWith("tools-and-models.ts");
    await test.session.prompt("/read-only");
    expect(test.session.tools.active.map(({ name }) => name)).toEqual([
      "read",
      "grep",
      "find",
      "ls",
    ]);
    expect(test.notices()).toEqual([expect.stringContaining("read, grep, find, ls")]);
    test.session.models.use({ ...scriptedModel(), id: "other" });
    await test.session.waitForIdle();
    expect(entries(test, "custom")).toMatchObject([{ data: { id: "other", source: "set" } }]);
  });
});

describe("prompts", () => {
  it("that are commands run at once and ask the client", async () => {
    const answer: Answers = ({ method }) =>
      method === "select" ? { value: "staging" } : undefined;
    const test = await sessionWith("command.ts", undefined, { answer });
    const { disposition, result } = await test.session.submit("/deploy", { id: "7" });
    expect(disposition).toBe("handled");
    expect(await result).toMatchObject({ id: "7", status: "handled" });
    expect(test.notices()).toEqual(["Deployed to staging"]);
    expect(test.requests.map(({ method }) => method)).toEqual([
      "select",
      "setStatus",
      "setWidget",
      "notify",
      "setStatus",
    ]);
    expect(test.session.messages).toEqual([]);
    expect(await test.session.listCommands()).toMatchObject([
      { name: "deploy", source: "extension" },
    ]);
    await expect(test.session.steer("/deploy")).rejects.toThrow(/cannot be queued/);
  });

  it("are changed or handled before the model sees them", async () => {
    const test = await sessionWith("input.ts");
    await test.session.prompt("ping");
    expect(test.notices()).toEqual(["pong"]);
    await test.session.prompt("? why");
    expect(test.session.messages[0]).toMatchObject({ content: "Answer in one sentence: why" });
  });

  it("get a system prompt that depends on a flag", async () => {
    const prompts: (string | undefined)[] = [];
    const scenario: Scenario = ({ systemPrompt }) => {
      prompts.push(systemPrompt);
      return "done";
    };
    const test = await sessionWith("flag.ts", scenario, {
      flags: { "reader-level": "child" },
    } as never);
    await test.session.prompt("explain");
    expect(prompts[0]).toMatch(/Write for this reader: child\.$/);
  });

  it("get a system prompt whose parts an extension changes and shows", async () => {
    const prompts: (string | undefined)[] = [];
    const scenario: Scenario = ({ systemPrompt }) => {
      prompts.push(systemPrompt);
      return "done";
    };
    const test = await sessionWith("prompt-parts.ts", scenario);
    await test.session.prompt("/prompt-parts");
    expect(test.notices()).toEqual([expect.stringMatching(/^read, bash.* in \d{3,} characters$/)]);
    await test.session.prompt("go");
    expect(prompts[0]).toContain("<team>\nTwo people read every change.\n</team>");
    expect(prompts[0]).toContain("- Keep changes small.");
  });

  it("add messages, of which the model reads only the newest", async () => {
    const read: string[] = [];
    const scenario: Scenario = ({ messages }) => {
      read.push(messages.map(({ content }) => JSON.stringify(content)).join());
      return "done";
    };
    const test = await sessionWith("context.ts", scenario);
    await test.session.prompt("one");
    await test.session.prompt("two");
    expect(entries(test, "custom_message")).toHaveLength(2);
    expect(read[1]).toContain("This is prompt 2.");
    expect(read[1]).not.toContain("This is prompt 1.");
  });
});

describe("the ends of turns and runs", () => {
  it("take entries of an extension, which may ask for one more turn", async () => {
    const scenario = [
      call("write", { path: "a.txt", content: "a" }),
      "written",
      "checked",
      "nothing to check",
    ];
    const test = await sessionWith("follow-through.ts", scenario);
    await test.session.prompt("write it");
    await test.session.waitForIdle();
    expect(test.session.lastAssistantText).toBe("checked");
    expect(entries(test, "custom_message")).toMatchObject([{ customType: "check" }]);
    const replies = entries(test, "message").filter(
      ({ message }) => (message as { role: string }).role === "assistant",
    );
    expect(entries(test, "custom").map(({ data }) => data)).toEqual([
      { turnIndex: 0, messageEntryId: replies[0]?.id },
      { turnIndex: 1, messageEntryId: replies[1]?.id },
      { turnIndex: 0, messageEntryId: replies[2]?.id },
    ]);
    const settled = test.events.filter(({ type }) => type === "agent_settled");
    expect(settled).toHaveLength(1);
    await test.session.prompt("and now?");
    expect(test.session.lastAssistantText).toBe("nothing to check");
  });

  it("give a prompt the result of the turn that they asked for", async () => {
    const refused = { kind: "status", status: 401, message: "key withdrawn" } as const;
    const write = call("write", { path: "a.txt", content: "a" });
    const scenario = [write, "written", { content: "x", fault: refused }];
    const test = await sessionWith("follow-through.ts", scenario);
    expect(await test.session.prompt("write it")).toMatchObject({
      status: "error",
      error: expect.stringContaining("key withdrawn"),
    });
  });

  it("are observed, with raw events, the whole request and waits for the user", async () => {
    const prompts: (string | undefined)[] = [];
    const scenario: Scenario = ({ systemPrompt }) => {
      prompts.push(systemPrompt);
      return "done";
    };
    const answer: Answers = ({ method }) =>
      method === "confirm" ? { confirmed: true } : undefined;
    const test = await sessionWith("observe.ts", scenario, { answer });
    await test.session.prompt("go");
    expect(prompts[0]).toMatch(/\n\nAnswer in verse\.$/);
    const { result } = await test.session.submit("/observed", {});
    await result;
    expect(Number(test.notices()[0])).toBeGreaterThan(0);
    expect(entries(test, "custom")).toMatchObject([
      { customType: "waiting", data: { kind: "confirm", title: "Show the count?" } },
      { customType: "answered", data: { kind: "confirm" } },
    ]);
  });
});

describe("the conversation", () => {
  it("takes notes, questions, names and labels of an extension", async () => {
    const test = await sessionWith("messages.ts");
    await test.session.prompt("/note remember me");
    expect(test.session.messages).toMatchObject([{ role: "custom", content: "remember me" }]);
    await test.session.prompt("/ask what now?");
    await test.session.waitForIdle();
    expect(test.session.messages.at(-1)).toMatchObject({ role: "assistant" });
    await test.session.prompt("/mark here");
    expect(test.session.log.name).toBe("here");
    expect(entries(test, "label")).toMatchObject([{ label: "here" }]);
  });

  it("is summarised by an extension instead of the model", async () => {
    const test = await sessionWith(
      "compaction.ts",
      ({ index }) => `reply ${index} ${"x".repeat(500)}`,
    );
    test.session.settings.override("compaction.keepRecentTokens", 10);
    for (const text of ["one", "two", "three"]) await test.session.prompt(text);
    const result = await test.session.compact();
    expect(result.summary).toMatch(/messages were here\.$/);
    expect(entries(test, "compaction")).toMatchObject([{ fromHook: true }]);
    expect(entries(test, "custom")).toMatchObject([{ data: { fromExtension: true } }]);
  });

  it("is left for a new one in which extensions start fresh", async () => {
    const test = await sessionWith("sessions.ts");
    await test.session.prompt("first");
    const old = test.session.log.path;
    await test.session.prompt("/fresh better");
    expect(test.session.log.name).toBe("better");
    expect(test.session.log.header.parentSession).toBe(old);
    expect(test.notices()).toEqual(["Now in better"]);
    const states = test.requests.flatMap((request) =>
      request.method === "setStatus" ? [request.statusText?.split(":")[0]] : [],
    );
    expect(states).toEqual(["startup", "new"]);
  });

  it("is kept when an extension cancels the change", async () => {
    const test = await sessionWith("sessions.ts", undefined, {
      flags: { "keep-unnamed": true },
    } as never);
    await test.session.prompt("first");
    const { path } = test.session.log;
    expect(await test.session.newSession()).toEqual({ cancelled: true });
    expect(test.session.log.path).toBe(path);
  });
});

it("an extension's own session asks the host's model and leaves the conversation alone", async () => {
  const test = await sessionWith("side-session.ts", ["on the side", "in the conversation"]);
  await test.session.prompt("/aside what is it?");
  expect(test.notices()).toEqual(["on the side"]);
  expect(test.session.messages).toEqual([]);
  await test.session.prompt("go on");
  expect(test.session.lastAssistantText).toBe("in the conversation");
});

describe("the surroundings", () => {
  it("may include a provider that streams replies itself", async () => {
    const test = await sessionWith("provider.ts");
    await test.session.models.set("echo", "echo-1");
    const result = await test.session.prompt("hello");
    expect(result).toMatchObject({ status: "completed" });
    expect(test.session.lastAssistantText).toBe("echo!");
  });

  it("run programs, and extensions notify each other", async () => {
    const test = await sessionWith("exec-and-events.ts");
    await test.session.prompt("/run echo out");
    expect(test.session.log.name).toBe("0:out");
    await test.session.prompt("/run no-such-program");
    expect(test.session.log.name).toBe("1:");
  });

  it("run a client's commands elsewhere", async () => {
    const test = await sessionWith("user-bash.ts");
    expect(await test.session.bash.run("ls")).toMatchObject({
      output: "in a folder: ls\n",
      exitCode: 0,
    });
  });

  it("contain an extension's templates", async () => {
    const test = await sessionWith("resources.ts");
    await test.session.prompt("/review main.ts");
    expect(test.session.messages[0]).toMatchObject({
      content: "Review main.ts and list what is wrong.",
    });
  });

  it("include a project that an extension trusts", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tau-example-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const cwd = join(folder, "project");
    mkdirSync(join(cwd, ".pi", "extensions"), { recursive: true });
    const text = `export default (pi) => pi.registerCommand("local", { handler() {} });`;
    writeFileSync(join(cwd, ".pi", "extensions", "local.ts"), text);
    const test = await sessionWith("trust.ts", undefined, { cwd });
    expect(await test.session.listCommands()).toMatchObject([{ name: "local" }]);
  });
});

it("reports a failing extension by name and continues", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tau-example-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "fails.ts");
  writeFileSync(
    path,
    `export default (pi) => {
      pi.on("agent_start", () => { throw new Error("no start"); });
      pi.on("tool_call", () => { throw new Error("no call"); });
    };`,
  );
  const test = await sessionWith(path, [call("ls", {}), "done"]);
  const result = await test.session.prompt("go");
  expect(result.status).toBe("completed");
  const errors = test.events.filter(({ type }) => type === "extension_error");
  expect(errors).toEqual([
    { type: "extension_error", extensionPath: path, event: "agent_start", error: "no start" },
    { type: "extension_error", extensionPath: path, event: "tool_call", error: "no call" },
  ]);
  expect(toolTexts(test)).toEqual([expect.stringContaining("no call")]);
});
