import type { TestHost } from "@tau-agent/conformance";
import { describe, expect, it } from "vitest";
import { memoryHost } from "./support/hosts.ts";
import type { PlaceSetup } from "./support/place.ts";
import { TestClient } from "./support/test-client.ts";

const bash = (command: string) => ({
  type: "toolCall" as const,
  name: "bash",
  arguments: { command },
});

async function start(
  setup: PlaceSetup = {},
  hostRequests?: boolean | string[],
): Promise<TestClient & { host: TestHost }> {
  const scenario = [{ content: [bash("echo hi")] }, { content: "done" }];
  const host = await memoryHost({
    title: "",
    requirements: [],
    scenario,
    arguments: ["--permission-mode", "ask"],
    ...setup,
  });
  const client = Object.assign(new TestClient(host), { host });
  if (hostRequests !== undefined) await client.initialize({ capabilities: { hostRequests } });
  return client;
}

const prompt = { type: "prompt", message: "go" };
const result = { type: "tool_execution_end" };

describe("an approval over RPC", () => {
  it("arrives after the start of its call, and its answer has no response", async () => {
    await using client = await start({}, true);
    client.send(prompt);
    const { toolCallId } = await client.until({ type: "tool_execution_start" });
    const { id, ...request } = await client.until({ type: "host_request" });
    expect(request).toMatchObject({
      method: "tool_approval",
      toolCallId,
      onTimeout: "deny",
      params: {
        toolName: "bash",
        input: { command: "echo hi" },
        suggestions: [{ tool: "bash", match: "echo hi", action: "allow" }],
        parts: [{ text: "echo hi", action: "ask" }],
      },
    });
    client.send({ type: "host_response", id, result: { decision: "allow" } });
    expect(await client.until({ type: "host_request_resolved" })).toMatchObject({
      id,
      by: "client",
      outcome: "allow",
    });
    expect(await client.until(result)).toMatchObject({ isError: false });
    expect(await client.until({ type: "prompt_result" })).toMatchObject({ status: "completed" });
  });

  it("can be denied with an error text or with a message", async () => {
    for (const answer of [
      { error: { message: "ask me later" } },
      { result: { decision: "deny", message: "ask me later" } },
    ]) {
      await using client = await start({}, true);
      client.send(prompt);
      const { id } = await client.until({ type: "host_request" });
      client.send({ type: "host_response", id, ...answer });
      const end = await client.until(result);
      expect(end).toMatchObject({ isError: true });
      expect(end.result).toMatchObject({
        content: [{ text: "Denied by the user: ask me later" }],
        details: { denied: { by: "client", message: "ask me later" } },
      });
    }
  });

  it("stays open after an invalid answer, which is refused with the name of the member", async () => {
    await using client = await start({}, true);
    client.send(prompt);
    const { id } = await client.until({ type: "host_request" });
    for (const [answer, named] of [
      [{ decision: "yes" }, "result.decision"],
      [{ decision: "allow", scope: "forever" }, "result.scope"],
      [{ decision: "allow", rules: [{ tool: "bash" }] }, "result.rules[0].action"],
      [{ decision: "allow", input: {} }, "result.input"],
      [{ decision: "allow", scope: "always", saveTo: "project" }, "result.saveTo"],
      [{ decision: "deny", endRun: 1 }, "result.endRun"],
    ] as const) {
      client.send({ type: "host_response", id, result: answer });
      const refusal = await client.until({ type: "response" });
      expect(refusal).toMatchObject({ command: "host_response", code: "invalid_response", id });
      expect(refusal.error).toContain(named);
    }
    client.send({ type: "abort" });
    expect(await client.until({ type: "host_request_resolved" })).toMatchObject({ by: "abort" });
  });

  it("is denied at once if the client has not declared it", async () => {
    await using client = await start({}, ["dialog"]);
    client.send(prompt);
    expect((await client.until(result)).result).toMatchObject({
      details: { denied: { by: "nobody" } },
    });
  });

  it("survives a thousand answers to other requests", async () => {
    await using client = await start({}, true);
    client.send(prompt);
    const { id } = await client.until({ type: "host_request" });
    for (let at = 0; at < 1000; at += 1) {
      client.send({ type: "host_response", id: `other-${at}`, result: { decision: "allow" } });
    }
    client.send({ type: "host_response", id, result: { decision: "allow" } });
    expect(await client.until(result)).toMatchObject({ isError: false });
  });
});

describe("a client that knows no host requests", () => {
  it.each(["pi", "pi-1", "pisces", "oh-my-pi-18"])(
    "is asked with a select dialog in %s; only an exact option is accepted",
    async (dialect) => {
      for (const [value, isError] of [
        ["Allow once", false],
        ["allow once", true],
        ["Deny", true],
      ] as const) {
        await using client = await start({ dialect });
        client.send(prompt);
        const dialog = await client.until({ type: "extension_ui_request" });
        expect(dialog).toMatchObject({
          method: "select",
          title: "Allow bash: echo hi?",
          options: ["Allow once", "Allow for this session", "Deny"],
        });
        expect(Object.keys(dialog).sort()).toEqual([
          "id",
          "method",
          "options",
          "timeout",
          "title",
          "type",
        ]);
        client.send({ type: "extension_ui_response", id: dialog.id, value });
        expect(await client.until(result)).toMatchObject({ isError });
      }
    },
  );

  it.each(["oh-my-pi", "co-mono", "pi-rust"])("denies at once in %s", async (dialect) => {
    await using client = await start({ dialect });
    client.send(prompt);
    const name = dialect === "pi-rust" ? "tool_end" : "tool_execution_end";
    expect(JSON.stringify(await client.until({ type: name }))).toContain("Denied");
  });

  it("is notified when a dialog ends for another reason", async () => {
    await using client = await start();
    client.send(prompt);
    const { id } = await client.until({ type: "extension_ui_request" });
    client.send({ type: "set_permissions", mode: "all" });
    expect(await client.until({ type: "host_request_resolved" })).toEqual({
      type: "host_request_resolved",
      id,
      by: "rule",
      outcome: "allow",
    });
    expect(await client.until(result)).toMatchObject({ isError: false });
  });
});

describe("permissions over RPC", () => {
  it("fall back to the mode ask if a settings file with permissions has an error", async () => {
    const files = { "agent/settings.json": '{"permissions": {"mode": "readonly"}}' };
    await using client = await start({ files, arguments: [] }, true);
    client.send({ type: "get_permissions" });
    expect((await client.until({ command: "get_permissions" })).data).toMatchObject({
      mode: "ask",
    });
  });

  it("are changed one member at a time and returned with their sources", async () => {
    const settings = { permissions: { rules: [{ tool: "write", action: "ask" }] } };
    const files = { "agent/settings.json": JSON.stringify(settings) };
    await using client = await start({ files });
    client.send({ type: "get_permissions" });
    expect((await client.until({ command: "get_permissions" })).data).toEqual({
      mode: "ask",
      rules: [{ tool: "write", action: "ask", source: "user" }],
      onTimeout: "deny",
      timeoutMs: 300_000,
    });
    const rules = [{ tool: "bash", match: "git *", action: "allow" }];
    client.send({ type: "set_permissions", rules, onTimeout: "cancel" });
    expect((await client.until({ command: "set_permissions" })).data).toMatchObject({
      mode: "ask",
      rules: [{ source: "user" }, { ...rules[0], source: "session" }],
      onTimeout: "cancel",
    });
    client.send({ type: "set_permissions", rules: [], mode: "readOnly" });
    expect((await client.until({ command: "set_permissions" })).data).toMatchObject({
      mode: "readOnly",
      rules: [{ source: "user" }],
    });
    client.send({ type: "get_state" });
    expect((await client.until({ command: "get_state" })).data).toMatchObject({
      permissionMode: "readOnly",
    });
  });

  it.each([
    [{ mode: "yolo" }, "mode"],
    [{ onTimeout: "allow" }, "onTimeout"],
    [
      {
        rules: [
          { tool: "ls", action: "deny" },
          { tool: "x", action: "x" },
        ],
      },
      "rules[1].action",
    ],
    [{ rules: [{ tool: "task", match: "x", action: "deny" }] }, "rules[0].match"],
    [{ timeoutMs: 1.5 }, "timeoutMs"],
  ])("ignores an invalid change: %j", async (change, field) => {
    await using client = await start({}, true);
    client.send({ type: "set_permissions", ...change });
    const refusal = await client.until({ command: "set_permissions" });
    expect(refusal).toMatchObject({ success: false, code: "invalid_params" });
    expect(refusal.error).toContain(`"${field}"`);
    client.send({ type: "get_permissions" });
    expect((await client.until({ command: "get_permissions" })).data).toMatchObject({
      mode: "ask",
      rules: [],
    });
  });

  it("do not apply to the client's own commands", async () => {
    await using client = await start({ arguments: ["--permission-mode", "readOnly"] }, true);
    client.send({ type: "set_permissions", rules: [{ tool: "bash", action: "deny" }] });
    client.send({ type: "bash", command: "echo mine" });
    expect((await client.until({ command: "bash" })).data).toMatchObject({ output: "mine\n" });
  });
});

/** A guard extension that asks the user itself and may change the call. */
const guard = `
  export default function (pi) {
    pi.on("tool_call", async (event, ctx) => {
      if (event.input.command === "echo hi") {
        const isSure = await ctx.ui.confirm("Run it?", event.input.command);
        if (!isSure) return { block: true, reason: "not sure" };
      } else if (event.input.command === "echo quiet") {
        return { input: { command: "echo loud" } };
      }
    });
  }
`;

describe("an extension that decides about calls", () => {
  const files = { "agent/extensions/guard.ts": guard };

  it("replaces the host's question and asks once", async () => {
    await using client = await start({ files }, true);
    client.send(prompt);
    const { id, method } = await client.until({ type: "host_request" });
    expect(method).toBe("dialog");
    client.send({ type: "host_response", id, result: { confirmed: true } });
    expect(await client.until(result)).toMatchObject({ isError: false });
    client.send({ type: "get_entries" });
    const { data } = await client.until({ command: "get_entries" });
    expect(JSON.stringify(data)).not.toContain('"approval"');
  });

  it("does not replace a rule that asks", async () => {
    await using client = await start({ files }, true);
    client.send({ type: "set_permissions", rules: [{ tool: "bash", action: "ask" }] });
    client.send(prompt);
    const dialog = await client.until({ type: "host_request", method: "dialog" });
    client.send({ type: "host_response", id: dialog.id, result: { confirmed: true } });
    const { id, params } = await client.until({ type: "host_request", method: "tool_approval" });
    expect(params).toMatchObject({ suggestions: [] });
    client.send({ type: "host_response", id, result: { decision: "allow" } });
    expect(await client.until(result)).toMatchObject({ isError: false });
  });

  it.each([{ rules: [{ tool: "bash", action: "deny" }] }, { mode: "readOnly" }])(
    "cannot override %j if it arrives while the extension asks",
    async (change) => {
      await using client = await start({ files, arguments: ["--permission-mode", "all"] }, true);
      client.send(prompt);
      const { id } = await client.until({ type: "host_request", method: "dialog" });
      client.send({ type: "set_permissions", ...change });
      await client.until({ command: "set_permissions" });
      client.send({ type: "host_response", id, result: { confirmed: true } });
      expect((await client.until(result)).result).toMatchObject({
        content: [{ text: expect.stringMatching(/^Denied/) }],
      });
    },
  );

  it("is not asked about a call that a rule denies", async () => {
    await using client = await start({ files }, true);
    client.send({ type: "set_permissions", rules: [{ tool: "bash", action: "deny" }] });
    client.send(prompt);
    expect((await client.until(result)).result).toMatchObject({
      details: { denied: { by: "rule" } },
    });
  });

  it("has its changed arguments judged and shown", async () => {
    const scenario = [{ content: [bash("echo quiet")] }, { content: "done" }];
    await using client = await start({ files, scenario }, true);
    client.send(prompt);
    const { id, params } = await client.until({ type: "host_request" });
    expect(params).toMatchObject({ input: { command: "echo loud" } });
    client.send({ type: "host_response", id, result: { decision: "allow" } });
    expect(JSON.stringify(await client.until(result))).toContain("loud");
  });

  it("has its changed arguments denied by a rule", async () => {
    const scenario = [{ content: [bash("echo quiet")] }, { content: "done" }];
    await using client = await start({ files, scenario }, true);
    const rules = [{ tool: "bash", match: "echo loud", action: "deny" }];
    client.send({ type: "set_permissions", mode: "all", rules });
    client.send(prompt);
    expect((await client.until(result)).result).toMatchObject({
      details: { denied: { by: "rule" } },
    });
  });
});
