// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how mcp.json names variables.
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ApprovalRequest, OpenHostRequest } from "@tau-agent/rpc-protocol";
import { describe, expect, it } from "vitest";
import type { AgentSession } from "../../src/session/agent-session.ts";
import {
  callTool,
  diagnosticTexts,
  fixtureEntry,
  fixtureTool,
  fixtureTools,
  isAlive,
  textOf,
  workspaceForEach,
} from "./mcp-session.ts";

const workspace = workspaceForEach();

describe("MCP servers of a session", () => {
  it("offer their tools after all others, sorted by server", async () => {
    await workspace().configure({
      zebra: fixtureEntry({ tools: fixtureTools("b", "a") }),
      ant: fixtureEntry({ tools: fixtureTools("c") }),
    });
    const session = await workspace().openReady();
    const names = session.activeTools.map(({ name }) => name);
    expect(names.slice(-3)).toEqual(["mcp__ant__c", "mcp__zebra__b", "mcp__zebra__a"]);
    expect(session.activeTools.at(-1)).toMatchObject({ source: "mcp", readOnly: false });
  });

  it("are described to clients", async () => {
    await workspace().configure({
      one: fixtureEntry(
        { tools: [fixtureTool("get", { annotations: { readOnlyHint: true } }), fixtureTool("rm")] },
        { toolExposure: { rm: "hidden" } },
      ),
      off: fixtureEntry({}, { enabled: false }),
      bad: {},
    });
    const session = await workspace().openReady();
    const { servers, errors } = await session.mcp.list();
    expect(errors).toEqual([expect.stringMatching(/mcp\.json: server "bad": command or url/)]);
    expect(servers).toEqual([
      {
        name: "one",
        source: "user",
        transport: "stdio",
        status: "connected",
        exposure: "direct",
        restarts: 0,
        tools: [
          {
            name: "mcp__one__get",
            serverName: "get",
            exposure: "direct",
            annotations: { readOnlyHint: true },
          },
          { name: "mcp__one__rm", serverName: "rm", exposure: "hidden" },
        ],
      },
      expect.objectContaining({ name: "off", status: "disabled", tools: [] }),
    ]);
    expect(session.activeTools.some(({ name }) => name === "mcp__one__rm")).toBe(false);
  });

  it("get no provider keys and no other folder than the session's", async () => {
    await workspace().configure({
      one: fixtureEntry(
        { tools: fixtureTools("environment", "folder") },
        { env: { OWN: "${HOME}!" } },
      ),
    });
    const session = await workspace().openReady();
    const environment = JSON.parse(textOf(await callTool(session, "mcp__one__environment")));
    expect(environment.OWN).toBe(`${workspace().root}!`);
    expect(JSON.stringify(environment)).not.toContain("sk-secret");
    expect(textOf(await callTool(session, "mcp__one__folder"))).toBe(workspace().cwd);
  });

  it("are loaded from the project only when it is trusted", async () => {
    const { writeFile } = await import("node:fs/promises");
    const text = JSON.stringify({
      mcpServers: { theirs: fixtureEntry({ tools: fixtureTools("x") }) },
    });
    await writeFile(join(workspace().cwd, ".mcp.json"), text);
    const careful = await workspace().openReady();
    expect((await careful.mcp.list()).servers).toEqual([]);
    expect(careful.diagnostics).toEqual([
      expect.objectContaining({
        code: "project_untrusted",
        message: expect.stringContaining(".mcp.json"),
      }),
    ]);
    const trusting = await workspace().openReady({ trustProject: true });
    expect((await trusting.mcp.list()).servers).toMatchObject([
      { name: "theirs", source: "project", status: "connected" },
    ]);
  });

  it("are not started when they are switched off", async () => {
    const log = join(workspace().root, "log");
    await workspace().configure({ one: fixtureEntry({ log }) });
    const session = await workspace().openReady({ mcp: { isOff: true } });
    expect(await session.mcp.list()).toEqual({ servers: [], errors: [] });
    expect(existsSync(log)).toBe(false);
  });

  it("can be added and removed, and the others keep running", async () => {
    const log = join(workspace().root, "log");
    await workspace().configure({ file: fixtureEntry({ tools: fixtureTools("a"), log }) });
    const session = await workspace().openReady();
    await session.mcp.set({ mine: fixtureEntry({ tools: fixtureTools("b") }) });
    await session.mcp.ready();
    expect((await session.mcp.list()).servers).toMatchObject([
      { name: "file", source: "user", status: "connected" },
      { name: "mine", source: "session", status: "connected" },
    ]);
    expect(readFileSync(log, "utf8").match(/start/g)).toHaveLength(1);
    await expect(session.mcp.set({ good: { command: "x" }, bad: { command: 1 } })).rejects.toThrow(
      /servers\.bad/,
    );
    expect((await session.mcp.list()).servers).toHaveLength(2);
    expect((await session.mcp.set({})).servers).toEqual([]);
    expect(session.activeTools.some(({ source }) => source === "mcp")).toBe(false);
  });

  it("can be given by the embedder", async () => {
    const session = await workspace().openReady({
      mcpServers: { mine: fixtureEntry({ tools: fixtureTools("a") }) },
    });
    expect((await session.mcp.list()).servers).toMatchObject([{ source: "session" }]);
  });

  it("end with all their processes, including those that left the group", async () => {
    const file = join(workspace().root, "pid");
    await workspace().configure({ one: fixtureEntry({ tools: fixtureTools("child") }) });
    const session = await workspace().openReady();
    await callTool(session, "mcp__one__child", { file });
    const pid = Number(readFileSync(file, "utf8"));
    expect(isAlive(pid)).toBe(true);
    await session.dispose();
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});

describe("a request to the model", () => {
  const sizeOf = async (session: AgentSession) => {
    const tools = JSON.stringify(session.activeTools);
    return (await session.buildSystemPrompt()).length + tools.length;
  };

  it("grows by less than 2 000 tokens for 5 servers with 100 deferred tools each", async () => {
    const without = await sizeOf(await workspace().openReady());
    const many = fixtureTools(...Array.from({ length: 100 }, (_, index) => `tool_${index}`));
    const entry = fixtureEntry(
      {
        tools: many,
        resources: [{ uri: "a://b", name: "b" }],
        instructions: "Use it. ".repeat(500),
      },
      { exposure: "deferred" },
    );
    await workspace().configure({ a: entry, b: entry, c: entry, d: entry, e: entry });
    const session = await workspace().openReady();
    await session.mcp.connected();
    expect(session.tools.deferred).toHaveLength(503);
    // A token is about four characters of JSON.
    expect((await sizeOf(session)) - without).toBeLessThan(2000 * 4);
  });

  it("keeps its prefix when a server connects later", async () => {
    await workspace().configure({ one: fixtureEntry({ tools: fixtureTools("b") }) });
    const session = await workspace().openReady();
    await session.prompt("Hello");
    const prompt = await session.buildSystemPrompt();
    const before = JSON.stringify(session.activeTools);
    await session.mcp.set({ another: fixtureEntry({ tools: fixtureTools("a") }) });
    await session.mcp.ready();
    expect(session.activeTools.at(-1)?.name).toBe("mcp__another__a");
    expect(JSON.stringify(session.activeTools).startsWith(before.slice(0, -1))).toBe(true);
    expect(await session.buildSystemPrompt()).toBe(prompt);
  });

  it("reports the servers that a prompt waits for", async () => {
    const session = await workspace().openReady();
    await session.mcp.set({ slow: fixtureEntry({ silent: ["initialize"] }) });
    const waiting = session.mcp.ready();
    await expect
      .poll(() => session.diagnostics.filter(({ code }) => code === "mcp_waiting"), {
        timeout: 5000,
      })
      .toMatchObject([{ message: expect.stringMatching(/^Waiting up to 10 s .*: slow\. /) }]);
    await session.mcp.set({});
    await waiting;
  });

  it("waits for servers with direct tools, including on the first prompt", async () => {
    await workspace().configure({ one: fixtureEntry({ tools: fixtureTools("a") }) });
    const session = await workspace().open();
    await session.prompt("Hello");
    expect(session.tools.wasRequested("mcp__one__a")).toBe(true);
  });
});

describe("a server's request to the user", () => {
  const open = async (more: object = {}) => {
    await workspace().configure({
      one: fixtureEntry({ tools: fixtureTools("ask", "sample") }, more),
    });
    return workspace().openReady();
  };
  const form = {
    message: "Who?",
    requestedSchema: {
      type: "object",
      properties: { name: { type: "string" }, age: { type: "integer", default: 36 } },
      required: ["name"],
    },
  };

  it("is cancelled at once if nobody can answer", async () => {
    const session = await open();
    expect(textOf(await callTool(session, "mcp__one__ask", form))).toBe('{"action":"cancel"}');
  });

  it("reaches the client, may take longer than the call, and applies the schema's defaults", async () => {
    const session = await open({ timeout: 2 });
    const asked: OpenHostRequest[] = [];
    session.requests.attach({
      answers: (method) => method === "elicitation",
      closed: () => {},
      open: (request) => asked.push(request) > 0,
    });
    const call = callTool(session, "mcp__one__ask", form);
    await expect.poll(() => asked).toHaveLength(1);
    const [{ id }] = asked as [OpenHostRequest];
    expect(asked[0]).toMatchObject({
      method: "elicitation",
      toolCallId: "call-1",
      onTimeout: "cancel",
      params: {
        server: "one",
        message: "Who?",
        mode: "form",
        requestedSchema: form.requestedSchema,
      },
    });
    // Longer than the entry's timeout, which is suspended meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 2200));
    const answer = (result: unknown) => session.requests.answer(id, { result });
    expect(() => answer({ action: "yes" })).toThrow(/result\.action/);
    expect(() => answer({ action: "accept", content: {} })).toThrow(/result\.content\.name/);
    answer({ action: "accept", content: { name: "Ada" } });
    expect(JSON.parse(textOf(await call))).toEqual({
      action: "accept",
      content: { name: "Ada", age: 36 },
    });
  });

  it("ends when the server says that its page is done", async () => {
    const session = await open();
    const events: object[] = [];
    session.subscribe((event) => {
      if (event.type === "mcp_elicitation_complete") events.push(event);
    });
    const asked: OpenHostRequest[] = [];
    session.requests.attach({
      answers: () => true,
      open: (request) => asked.push(request) > 0,
      closed: () => {},
    });
    const page = { message: "Go", mode: "url", url: "https://a.example/", elicitationId: "7" };
    const call = callTool(session, "mcp__one__ask", page);
    await expect.poll(() => asked).toHaveLength(1);
    expect(events).toEqual([]);
    session.requests.answer(asked[0]?.id ?? "", { result: { action: "accept" } });
    await call;
    await expect
      .poll(() => events)
      .toEqual([{ type: "mcp_elicitation_complete", server: "one", elicitationId: "7" }]);
  });

  it.each(["http://evil.example", "file:///etc/passwd", "javascript:alert(1)"])(
    "is refused for the page %s",
    async (url) => {
      const session = await open();
      session.requests.attach({ answers: () => true, open: () => true, closed: () => {} });
      const asked = { message: "Go", mode: "url", url, elicitationId: "1" };
      expect(textOf(await callTool(session, "mcp__one__ask", asked))).toBe('{"action":"cancel"}');
      expect(diagnosticTexts(session)).toEqual([
        expect.stringContaining("neither https nor on this machine"),
      ]);
    },
  );

  it("gets a reply of the model only if the entry and a person allow it", async () => {
    const refusing = await open();
    expect(textOf(await callTool(refusing, "mcp__one__sample"))).toContain("error");
    const session = await open({ sampling: true });
    expect(textOf(await callTool(session, "mcp__one__sample"))).toContain("has not allowed it");
    const asked: OpenHostRequest[] = [];
    session.requests.attach({
      answers: (method) => method === "tool_approval",
      closed: () => {},
      open: (request) => {
        asked.push(request);
        queueMicrotask(() =>
          session.requests.answer(request.id, { result: { decision: "allow" } }),
        );
        return true;
      },
    });
    const sampled = JSON.parse(textOf(await callTool(session, "mcp__one__sample")));
    expect(sampled).toMatchObject({ role: "assistant", content: { type: "text" } });
    expect(asked).toMatchObject([
      { params: { toolName: "mcp_sampling", input: { server: "one" }, suggestions: [] } },
    ]);
  });
});

describe("a permission request for an MCP call", () => {
  const annotations = { readOnlyHint: true, openWorldHint: true };
  const ask = async (more: object) => {
    await workspace().configure({
      one: fixtureEntry({ tools: [fixtureTool("echo", { annotations })] }, more),
    });
    const scenario = join(workspace().root, "call.json");
    const call = { type: "toolCall", name: "mcp__one__echo", arguments: { message: "hi" } };
    writeFileSync(scenario, JSON.stringify([{ content: [call] }, { content: "Done." }]));
    const asked: ApprovalRequest[] = [];
    const session = await workspace().openReady({
      model: scenario,
      permissions: { mode: "ask" },
      approve: (request) => {
        asked.push(request);
        return { decision: "allow" };
      },
    });
    await session.prompt("Call it");
    return asked;
  };

  it("quotes the server's hints about the tool, which do not skip the request", async () => {
    const asked = await ask({});
    expect(asked).toMatchObject([
      {
        toolName: "mcp__one__echo",
        reason: expect.stringMatching(
          /The MCP server one says that it only reads, reaches other systems\.$/,
        ),
      },
    ]);
  });

  it("is skipped if the user trusts the server's hints", async () => {
    expect(await ask({ trustHints: true })).toEqual([]);
  });
});

describe("MCP calls", () => {
  const open = async (...names: string[]) => {
    await workspace().configure({
      one: fixtureEntry({ tools: fixtureTools(...names) }, { timeout: 5 }),
    });
    return workspace().openReady();
  };

  it("return the server's text", async () => {
    const session = await open("echo");
    const result = await callTool(session, "mcp__one__echo", { message: "hi" });
    expect(result).toEqual({
      content: [{ type: "text", text: "echo: hi" }],
      details: { server: "one", tool: "echo" },
    });
  });

  it("mark a failure, and distinguish it from a refusal", async () => {
    const session = await open("fail", "refuse");
    expect(await callTool(session, "mcp__one__fail")).toMatchObject({ isError: true });
    await expect(callTool(session, "mcp__one__refuse")).rejects.toThrow(
      "The MCP server one refused the call of refuse: ",
    );
  });

  it("return structured content once", async () => {
    const session = await open("structured", "both");
    for (const name of ["structured", "both"]) {
      const result = await callTool(session, `mcp__one__${name}`);
      expect(textOf(result)).toBe('{"answer":42}');
      expect(result.details).toMatchObject({ structuredContent: { answer: 42 } });
    }
  });

  it("truncate a result of 20 MB and keep all of it in a private file", async () => {
    const session = await open("big");
    const result = await callTool(session, "mcp__one__big", { kilobytes: 20_000 });
    const { fullOutputPath } = result.details as { fullOutputPath: string };
    expect(textOf(result).length).toBeLessThan(60_000);
    expect(textOf(result)).toContain(fullOutputPath);
    expect(statSync(fullOutputPath)).toMatchObject({ size: 20_000_000 });
    expect(statSync(fullOutputPath).mode & 0o777).toBe(0o600);
  });

  it("report progress", async () => {
    const session = await open("progress");
    const updates: string[] = [];
    const onUpdate = (partial: Parameters<typeof textOf>[0]) => updates.push(textOf(partial));
    await callTool(session, "mcp__one__progress", {}, { onUpdate });
    expect(updates).toEqual(["step 1 (1/3)", "step 2 (2/3)", "step 3 (3/3)"]);
  });

  it("end on abort, and the server is notified", async () => {
    const log = join(workspace().root, "log");
    await workspace().configure({ one: fixtureEntry({ tools: fixtureTools("hang"), log }) });
    const session = await workspace().openReady();
    const controller = new AbortController();
    const call = callTool(session, "mcp__one__hang", {}, { signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toThrow();
    await expect.poll(() => readFileSync(log, "utf8")).toContain("notifications/cancelled");
  });

  it("end with the timeout of the entry", async () => {
    await workspace().configure({
      one: fixtureEntry({ tools: fixtureTools("hang") }, { timeout: 2 }),
    });
    const session = await workspace().openReady();
    await expect(callTool(session, "mcp__one__hang")).rejects.toThrow(/within 2 s/);
    expect((await session.mcp.list()).servers).toMatchObject([{ status: "connected" }]);
  });

  it("tell the server the folders of the session", async () => {
    const { cwd } = workspace();
    await workspace().configure({ one: fixtureEntry({ tools: fixtureTools("roots") }) });
    const session = await workspace().openReady({ additionalDirectories: ["../library"] });
    expect(JSON.parse(textOf(await callTool(session, "mcp__one__roots"))).roots).toEqual([
      { uri: `file://${cwd}`, name: "project" },
      { uri: `file://${join(cwd, "../library")}`, name: "library" },
    ]);
  });

  it("turn a log message into a diagnostic", async () => {
    const session = await open("log");
    await callTool(session, "mcp__one__log");
    await expect
      .poll(() => session.diagnostics)
      .toContainEqual({
        severity: "error",
        code: "mcp_log",
        message: "MCP server one (error): disk[31m full",
      });
  });
});

describe("resources and prompts", () => {
  it("list and read resources", async () => {
    const resources = [{ uri: "note://1", name: "First", icons: [] }];
    await workspace().configure({ one: fixtureEntry({ resources }) });
    const session = await workspace().openReady();
    const listed = JSON.parse(textOf(await callTool(session, "list_mcp_resources")));
    expect(listed).toEqual({ resources: [{ server: "one", uri: "note://1", name: "First" }] });
    const read = await callTool(session, "read_mcp_resource", { server: "one", uri: "note://1" });
    expect(textOf(read)).toBe("the content");
    await expect(
      callTool(session, "read_mcp_resource", { server: "two", uri: "note://1" }),
    ).rejects.toThrow("there are: one");
    const readOnly = Object.fromEntries(
      session.activeTools.map((tool) => [tool.name, tool.readOnly]),
    );
    expect(readOnly).toMatchObject({ list_mcp_resources: true, read_mcp_resource: false });
  });

  it("send resources along with a prompt", async () => {
    const resources = [{ uri: "note://1", name: "First" }];
    await workspace().configure({ one: fixtureEntry({ resources }), two: fixtureEntry({}) });
    const session = await workspace().open();
    const note = { server: "one", uri: "note://1" };
    await session.prompt("Read it", { resources: [note] });
    expect(session.messages[0]).toMatchObject({
      role: "user",
      content: [
        { type: "text", text: "Read it" },
        { type: "text", text: '<file name="note://1">\nthe content\n</file>' },
      ],
      attachments: [{ id: "one:note://1", fileName: "note://1", extractedText: "the content" }],
    });
    await expect(
      session.prompt("go", { resources: [{ server: "three", uri: "note://1" }] }),
    ).rejects.toMatchObject({ code: "mcp_server_not_found" });
    const silent = fixtureEntry({ resources, silent: ["resources/read"] }, { timeout: 0.2 });
    await session.mcp.set({ one: silent });
    await expect(session.prompt("go", { resources: [note] })).rejects.toMatchObject({
      code: "mcp_failed",
    });
  });

  it("find the server of an address, by list or template", async () => {
    const templates = [{ uriTemplate: "user://{id}/photo", name: "Photo" }];
    await workspace().configure({
      a: fixtureEntry({ resources: [{ uri: "note://1", name: "First" }] }),
      b: fixtureEntry({
        resources: [{ uri: "x:y", name: "X" }],
        templates: [...templates, { uriTemplate: "{+any}", name: "Any" }],
      }),
    });
    const { mcp } = await workspace().openReady();
    expect(await mcp.serverOf("note://1")).toBe("a");
    expect(await mcp.serverOf("user://7/photo")).toBe("b");
    expect(await mcp.serverOf("https://example.com/")).toBeUndefined();
  });

  it("offer no resource tools without resources", async () => {
    await workspace().configure({ one: fixtureEntry({ tools: fixtureTools("a") }) });
    const session = await workspace().openReady();
    expect(session.activeTools.some(({ name }) => name.endsWith("mcp_resource"))).toBe(false);
  });

  it("turn prompts into commands", async () => {
    const prompts = [
      { name: "review", description: "Reviews", arguments: [{ name: "file" }, { name: "how" }] },
    ];
    await workspace().configure({ one: fixtureEntry({ prompts }) });
    const session = await workspace().openReady();
    expect(await session.listCommands()).toContainEqual(
      expect.objectContaining({ name: "mcp__one__review", description: "Reviews" }),
    );
    await session.prompt('/mcp__one__review a.ts "very carefully" please');
    expect(session.messages[0]).toMatchObject({
      role: "user",
      content: 'review: {"file":"a.ts","how":"very carefully please"}',
    });
  });
});
