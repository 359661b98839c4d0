import { describe, expect, it } from "vitest";
import { memoryHost } from "./support/hosts.ts";
import type { PlaceSetup } from "./support/place.ts";
import { type Frame, TestClient } from "./support/test-client.ts";

/** Commands that open dialogs and report the answers as notifications. */
const asking = `
  export default function (pi) {
    pi.registerCommand("ask", {
      handler: async (args, ctx) => {
        const [kind, timeout] = args.split(" ");
        const options = timeout === undefined ? {} : { timeout: Number(timeout) };
        const heard = kind === "confirm" ? await ctx.ui.confirm("Sure?", "", options)
          : await ctx.ui[kind]("Which?", kind === "select" ? ["a", "b"] : undefined, options);
        ctx.ui.notify("heard " + JSON.stringify(heard ?? null));
      },
    });
  }
`;
const setup: PlaceSetup = {
  title: "",
  requirements: [],
  files: { "agent/extensions/ask.ts": asking },
};

class Client extends TestClient {
  static async start(capabilities?: object, more: PlaceSetup = {}): Promise<Client> {
    const client = new Client(await memoryHost({ ...setup, ...more }));
    if (capabilities !== undefined) await client.initialize({ capabilities });
    return client;
  }

  ask(kind: string): void {
    this.send({ type: "prompt", message: `/ask ${kind}` });
  }

  heard(): Promise<Frame> {
    return this.until({ type: "extension_ui_request", method: "notify" });
  }
}

describe("a client that answers host requests", () => {
  it.each([
    ["select", { value: "b" }, '"b"', "answered"],
    ["input", { value: "text" }, '"text"', "answered"],
    ["confirm", { confirmed: true }, "true", "answered"],
    ["confirm", { cancelled: true }, "false", "cancelled"],
    ["editor", { cancelled: true }, "null", "cancelled"],
  ])("gets a %s as a host request and answers %o", async (kind, result, heard, outcome) => {
    await using client = await Client.start({ hostRequests: true });
    client.ask(kind);
    const { id, ...request } = await client.until({ type: "host_request" });
    expect(request).toMatchObject({ method: "dialog", onTimeout: "cancel" });
    expect(request.params).toMatchObject({ method: kind });
    client.send({ type: "host_response", id, result });
    expect(await client.until({ type: "host_request_resolved" })).toEqual({
      type: "host_request_resolved",
      id,
      by: "client",
      outcome,
    });
    expect(await client.heard()).toMatchObject({ message: `heard ${heard}` });
  });

  it("finds its open requests in the state and in the list, and receives them again", async () => {
    await using client = await Client.start({ hostRequests: ["dialog"] });
    client.ask("input");
    const { type: _, ...request } = await client.until({ type: "host_request" });
    client.send({ type: "get_state" });
    const state = await client.until({ command: "get_state" });
    expect(state.data).toMatchObject({ pendingRequests: [request.id] });
    client.send({ type: "get_pending_requests" });
    const list = await client.until({ command: "get_pending_requests" });
    expect(list.data).toEqual({ requests: [request] });
    await client.initialize({});
    expect(await client.until({ type: "host_request" })).toEqual({
      type: "host_request",
      ...request,
    });
    client.send({ type: "host_response", id: request.id, error: { message: "no" } });
    expect(await client.heard()).toMatchObject({ message: "heard null" });
  });

  it("receives the error in an answer, and the request stays open", async () => {
    await using client = await Client.start({ hostRequests: true });
    client.ask("confirm");
    const { id } = await client.until({ type: "host_request" });
    const refusals = [
      [
        { type: "host_response", id, result: { value: "x" } },
        "invalid_response",
        "result.confirmed",
      ],
      [{ type: "host_response", id }, "invalid_response", "result"],
      [{ type: "host_response", id: 5, result: {} }, "invalid_response", "id"],
      [{ type: "host_response", id, error: "no" }, "invalid_response", "error"],
      [{ type: "host_response", id: "other", result: {} }, "request_not_found", "other"],
    ] as const;
    for (const [answer, code, named] of refusals) {
      client.send(answer);
      const refusal = await client.until({ type: "response" });
      expect(refusal).toMatchObject({
        id: answer.id,
        command: "host_response",
        success: false,
        code,
      });
      expect(refusal.error).toContain(named);
    }
    client.send({ type: "host_response", id, result: { confirmed: true } });
    expect(await client.heard()).toMatchObject({ message: "heard true" });
    client.send({ type: "host_response", id, result: { confirmed: true } });
    expect(await client.until({ type: "response" })).toMatchObject({ code: "request_closed" });
    // Some clients also answer notifications.
    client.send({ type: "extension_ui_response", id, confirmed: true });
    client.send({ type: "get_pending_requests" });
    expect(await client.until({ type: "response" })).toMatchObject({
      command: "get_pending_requests",
    });
  });

  it("receives the deadline, and is notified when it has passed", async () => {
    await using client = await Client.start({ hostRequests: true });
    const before = Date.now();
    client.ask("select 60");
    const { id, deadlineAt } = await client.until({ type: "host_request" });
    expect(Number(deadlineAt) - before).toBeGreaterThanOrEqual(60);
    expect(await client.until({ type: "host_request_resolved" })).toMatchObject({
      id,
      by: "timeout",
      outcome: "cancelled",
    });
    client.send({ type: "host_response", id, result: { value: "a" } });
    expect(await client.until({ type: "response" })).toMatchObject({ code: "request_closed" });
  });

  it("still gets dialogs as documented if it has not declared them", async () => {
    await using client = await Client.start({ hostRequests: ["tool_approval"] });
    client.ask("select");
    const { id } = await client.until({ type: "extension_ui_request" });
    client.send({ type: "extension_ui_response", id, value: "a" });
    expect(await client.heard()).toMatchObject({ message: 'heard "a"' });
  });

  it("is sent requests that were dialogs before it declared host requests", async () => {
    await using client = await Client.start();
    client.ask("input");
    const { id } = await client.until({ type: "extension_ui_request" });
    await client.initialize({ capabilities: { hostRequests: true } });
    expect(await client.until({ type: "host_request" })).toMatchObject({ id, method: "dialog" });
    client.send({ type: "extension_ui_response", id, value: "x" });
    expect(await client.heard()).toMatchObject({ message: 'heard "x"' });
  });

  it("is notified when a dialog ends with the session", async () => {
    await using client = await Client.start({ hostRequests: true });
    client.ask("input");
    const { id } = await client.until({ type: "host_request" });
    client.send({ type: "new_session" });
    expect(await client.until({ type: "host_request_resolved" })).toMatchObject({ id, by: "end" });
  });
});

describe("a client that knows no host requests", () => {
  it("gets a dialog with exactly the documented members, and no notification of its end", async () => {
    await using client = await Client.start();
    client.ask("select 20");
    const { id, ...dialog } = await client.until({ type: "extension_ui_request" });
    expect(dialog).toEqual({
      type: "extension_ui_request",
      method: "select",
      title: "Which?",
      options: ["a", "b"],
      timeout: 20,
    });
    expect(await client.heard()).toMatchObject({ message: "heard null" });
    client.send({ type: "extension_ui_response", id, value: "a" });
  });

  it("is notified after initialize of the end of a dialog that it did not answer", async () => {
    await using client = await Client.start({});
    client.ask("select 20");
    const { id } = await client.until({ type: "extension_ui_request" });
    expect(await client.until({ type: "host_request_resolved" })).toMatchObject({
      id,
      by: "timeout",
    });
  });

  it("gets no dialog in a dialect without dialogs, and nothing waits for an answer", async () => {
    await using client = await Client.start(undefined, { dialect: "oh-my-pi" });
    client.ask("select");
    client.send({ type: "get_state" });
    const state = await client.until({ command: "get_state" });
    expect(state.data).toMatchObject({ pendingRequests: [] });
  });
});

/** Dialogs of a tool, of handlers around calls, of a nested tool, and of code that outlives a call. */
const duringCalls = `
  export default function (pi) {
    const ask = (ctx, title) => ctx.ui.input(title);
    const done = { content: [{ type: "text", text: "ok" }] };
    const tool = (name, execute) => pi.registerTool({
      name, description: name, parameters: { type: "object", properties: {} },
      execute: (id, params, signal, update, ctx) => execute(ctx),
    });
    tool("inner", async (ctx) => { await ask(ctx, "inner"); return done; });
    tool("outer", async (ctx) => {
      await ask(ctx, "tool");
      await ctx.executeTool("inner", {});
      setTimeout(() => void ask(ctx, "late"), 300);
      return done;
    });
    pi.on("tool_call", async (event, ctx) => {
      if (event.toolName === "outer") await ask(ctx, "before");
    });
    pi.on("tool_result", async (event, ctx) => {
      if (event.toolName === "outer") await ask(ctx, "after");
    });
  }
`;

it("a dialog opened during a tool call names the call", async () => {
  const call = { type: "toolCall", id: "call_1", name: "outer", arguments: {} } as const;
  const more: PlaceSetup = {
    ...setup,
    files: { "agent/extensions/calls.ts": duringCalls },
    scenario: [{ content: [call] }, { content: "done" }],
  };
  await using client = await Client.start({ hostRequests: true }, more);
  client.send({ type: "prompt", message: "go" });
  for (const title of ["before", "tool", "inner", "after"]) {
    const { id, params, toolCallId } = await client.until({ type: "host_request" });
    expect([Reflect.get(Object(params), "title"), toolCallId]).toEqual([title, "call_1"]);
    client.send({ type: "host_response", id, result: { value: "x" } });
  }
  const late = await client.until({ type: "host_request" });
  expect(late.params).toMatchObject({ title: "late" });
  expect(late).not.toHaveProperty("toolCallId");
});
