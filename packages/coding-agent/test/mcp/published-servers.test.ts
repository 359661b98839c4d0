import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentSession } from "../../src/session/agent-session.ts";
import { callTool, McpWorkspace, textOf } from "./mcp-session.ts";
import { ListeningServer, programOf } from "./published-server.ts";

let workspace: McpWorkspace;
let listening: ListeningServer | undefined;
beforeEach(async () => {
  workspace = await McpWorkspace.create();
});
afterEach(async () => {
  await workspace.remove();
  listening?.stop();
  listening = undefined;
});

const stdio = (name: Parameters<typeof programOf>[0], ...args: string[]) => ({
  command: process.execPath,
  args: [programOf(name), ...args],
});

/** Answers every request of the servers. */
function answerAll(session: AgentSession): unknown[] {
  const asked: unknown[] = [];
  session.requests.attach({
    answers: (method) => method !== "credential",
    closed: () => {},
    open: (request) => {
      asked.push({ method: request.method, params: request.params });
      const result =
        request.method === "elicitation"
          ? { action: "accept", content: { name: "Ada", check: true } }
          : { decision: "allow" };
      queueMicrotask(() => session.requests.answer(request.id, { result }));
      return true;
    },
  });
  return asked;
}

async function useEverything(session: AgentSession): Promise<void> {
  const { servers } = await session.mcp.list();
  expect(servers).toMatchObject([{ name: "everything", status: "connected" }]);
  const call = (name: string, args = {}) => callTool(session, `mcp__everything__${name}`, args);
  expect(textOf(await call("echo", { message: "hi" }))).toBe("Echo: hi");
  expect(textOf(await call("get_sum", { a: 2, b: 3 }))).toContain("5");
  const image = await call("get_tiny_image");
  expect(image.content).toContainEqual(
    expect.objectContaining({ type: "image", mimeType: "image/png" }),
  );
  const weather = await call("get_structured_content", { location: "Chicago" });
  expect(weather.details).toMatchObject({
    structuredContent: { temperature: expect.any(Number) },
  });
  const annotated = await call("get_annotated_message", {
    messageType: "success",
    includeImage: true,
  });
  expect(annotated.content).toHaveLength(2);
  expect(textOf(await call("get_resource_links", { count: 2 }))).toMatch(
    /Read it with read_mcp_resource \(server "everything"\)/,
  );
  expect(
    textOf(await call("get_resource_reference", { resourceType: "Text", resourceId: 1 })),
  ).toContain("Resource 1");
  const updates: string[] = [];
  await callTool(
    session,
    "mcp__everything__trigger_long_running_operation",
    { duration: 0.4, steps: 2 },
    { onUpdate: (partial) => updates.push(textOf(partial)) },
  );
  expect(updates[0]).toBe("Progress 1/2");
  const { resources } = JSON.parse(textOf(await callTool(session, "list_mcp_resources")));
  expect(resources.length).toBeGreaterThan(3);
  const templates = await callTool(session, "list_mcp_resource_templates");
  expect(textOf(templates)).toContain("uriTemplate");
  const read = { server: "everything", uri: resources[0].uri };
  expect(textOf(await callTool(session, "read_mcp_resource", read)).length).toBeGreaterThan(20);
  await session.prompt("/mcp__everything__args_prompt Paris France");
  expect(JSON.stringify(session.messages[0])).toContain("weather in Paris");
}

describe("server-everything", () => {
  it("works over stdio, including its requests to the user and the model", async () => {
    await workspace.configure({ everything: { ...stdio("everything", "stdio"), sampling: true } });
    const session = await workspace.openReady();
    await useEverything(session);
    const asked = answerAll(session);
    const call = (name: string, args = {}) => callTool(session, `mcp__everything__${name}`, args);
    expect(textOf(await call("get_roots_list"))).toContain(workspace.cwd);
    expect(textOf(await call("trigger_elicitation_request"))).toContain("Ada");
    expect(asked).toEqual([
      {
        method: "elicitation",
        params: expect.objectContaining({
          server: "everything",
          mode: "form",
          requestedSchema: expect.objectContaining({ type: "object" }),
        }),
      },
    ]);
    const sampled = await call("trigger_sampling_request", { prompt: "Hello", maxTokens: 20 });
    expect(textOf(sampled)).toContain("LLM sampling result");
    expect(asked[1]).toMatchObject({
      method: "tool_approval",
      params: { toolName: "mcp_sampling" },
    });
  });

  it("works over streamable HTTP", async () => {
    listening = await ListeningServer.start("streamableHttp");
    await workspace.configure({ everything: { url: `http://127.0.0.1:${listening.port}/mcp` } });
    const session = await workspace.openReady();
    await useEverything(session);
    expect((await session.mcp.list()).servers).toMatchObject([{ transport: "http" }]);
  });

  it("works over SSE, which is detected automatically", async () => {
    listening = await ListeningServer.start("sse");
    await workspace.configure({ everything: { url: `http://127.0.0.1:${listening.port}/sse` } });
    const session = await workspace.openReady();
    await useEverything(session);
    expect((await session.mcp.list()).servers).toMatchObject([{ transport: "sse" }]);
  });
});

describe("server-filesystem", () => {
  it("reads and writes in the folder of the session", async () => {
    await writeFile(join(workspace.cwd, "note.txt"), "from disk");
    await workspace.configure({ files: stdio("filesystem", workspace.cwd) });
    const session = await workspace.openReady();
    const path = join(workspace.cwd, "note.txt");
    expect(textOf(await callTool(session, "mcp__files__read_text_file", { path }))).toBe(
      "from disk",
    );
    const other = join(workspace.cwd, "made.txt");
    await callTool(session, "mcp__files__write_file", { path: other, content: "made" });
    const listed = await callTool(session, "mcp__files__list_directory", { path: workspace.cwd });
    expect(textOf(listed)).toContain("made.txt");
    const refused = await callTool(session, "mcp__files__read_text_file", {
      path: "/etc/hostname",
    });
    expect(refused).toMatchObject({ isError: true });
  });
});

describe("server-memory", () => {
  it("remembers what it is given", async () => {
    const file = join(workspace.root, "memory.json");
    await workspace.configure({
      memory: { ...stdio("memory"), env: { MEMORY_FILE_PATH: file } },
    });
    const session = await workspace.openReady();
    const entities = [{ name: "Ada", entityType: "person", observations: ["wrote programs"] }];
    await callTool(session, "mcp__memory__create_entities", { entities });
    const found = await callTool(session, "mcp__memory__search_nodes", { query: "programs" });
    expect(textOf(found)).toContain("Ada");
  });
});
