import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createStream } from "@tau-agent/ai";
import { scriptedModel, startLoopbackServer, toolCall, turn } from "@tau-agent/ai/testing";
import type { ExtensionUiRequest } from "@tau-agent/rpc-protocol";
import { encodeLine } from "@tau-agent/rpc-protocol";
import { expect, it, onTestFinished } from "vitest";
import { recordFrames } from "../../../../apps/cli/test/recording/record-host.ts";
import { createTestSession, temporaryFolder } from "../create/__fixtures__/test-session.ts";

const extension = `
  const cycle = { n: 10n };
  cycle.self = cycle;
  const odd = {
    big: 1n, call() {}, sign: Symbol("s"), cycle, date: new Date(0), map: new Map([[1, () => 1]]),
    later: Promise.resolve(), hidden: new Proxy({}, { ownKeys() { throw new Error("no"); } }),
    get broken() { throw new Error("no"); }, own: { toJSON() { throw new Error("no"); } }, nan: NaN,
  };
  export default function (pi) {
    pi.registerTool({
      name: "odd", description: "Gives odd values", parameters: { type: "object" },
      async execute(id, params, signal, onUpdate) {
        onUpdate({ content: [{ type: "text", text: "half", odd }], details: odd });
        return { content: [{ type: "text", text: "done", odd }, { type: "other", odd }], details: odd };
      },
    });
    pi.registerTool({
      name: "thrower", description: "Throws", parameters: { type: "object" },
      async execute() { throw Object.create(null); },
    });
    pi.on("tool_call", (event) => { event.input.odd = odd; });
    pi.on("tool_result", () => ({ details: odd }));
    pi.on("context", (event) => ({ messages: event.messages }));
    pi.on("message_end", ({ message }) => message.role === "user" ? { message: { ...message, odd } } : undefined);
    pi.on("before_agent_start", () => ({ message: { customType: "odd", content: [{ type: "text", text: "hi", odd }], details: odd } }));
    pi.on("turn_start", () => { throw Object.create(null); });
    pi.registerCommand("odd", { handler: async (args, ctx) => {
      pi.appendEntry("odd", odd);
      pi.appendEntry(7n, odd);
      pi.sendMessage({ customType: "odd", content: "hello", details: odd, display: odd });
      ctx.ui.notify(new Error("went wrong"), "success");
      ctx.ui.notify(undefined);
      ctx.ui.setStatus("odd", odd);
      ctx.ui.setStatus(Symbol("s"), 1n);
      ctx.ui.setWidget("odd", [odd, Object.create(null), 2n], { placement: "left" });
      ctx.ui.setTitle(odd);
      ctx.ui.setEditorText(5n);
      await ctx.ui.select(1n, [odd, "b"], { timeout: 1 });
      await ctx.ui.confirm(Symbol("s"), odd, { timeout: 1n });
      await ctx.ui.input("odd", cycle, { timeout: 1 });
      await ctx.ui.editor(odd, cycle);
    } });
  }
`;

it("values that JSON cannot represent break no turn, no entry and no frame", async () => {
  const file = join(temporaryFolder(), "odd.mjs");
  writeFileSync(file, extension);
  const requests: ExtensionUiRequest[] = [];
  const test = await createTestSession(
    ({ toolResults }) =>
      toolResults.length === 0 ? turn([toolCall("odd", {}), toolCall("thrower", {})]) : "seen",
    {
      extensions: {
        paths: [file],
        onlyNamed: true,
        hostModules: async () => ({}),
        sendUiRequest: (request) => {
          requests.push(request);
          const { id } = request;
          setImmediate(() =>
            test.session.hooks?.answer({
              type: "extension_ui_response",
              id,
              cancelled: true,
            }),
          );
        },
      },
    },
  );
  const { session, events, written } = test;
  expect(session.diagnostics).toEqual([]);
  expect(await session.prompt("/odd")).toMatchObject({ status: "handled" });
  expect(await session.prompt("go")).toMatchObject({ status: "completed" });
  expect(await session.prompt("again")).toMatchObject({ status: "completed" });
  const errors = events.filter((event) => event.type === "extension_error");
  expect([...new Set(errors.map(({ event }) => event))]).toEqual(["turn_start"]);
  recordFrames(requests);
  expect(requests.map(({ method }) => method)).toHaveLength(11);
  // Memory and file agree, and the messages can be cloned.
  expect(structuredClone(session.messages)).toHaveLength(session.messages.length);
  const kept = written().slice(1);
  expect(kept).toEqual(session.log.tree.entries.map((entry) => JSON.parse(encodeLine(entry))));
  expect(kept.filter(({ type }) => type === "custom")).toMatchObject([
    { customType: "odd", data: { big: "1", cycle: { n: "10", self: "[circular]" } } },
    { customType: "7" },
    { customType: "environment" },
    { customType: "request_setup" },
    { customType: "cleared_results" },
  ]);
  await session.compact().catch(() => undefined);
  expect(await session.prompt("and again")).toMatchObject({ status: "completed" });
});

const counting = `
  const note = { role: "user", content: "", timestamp: 1 };
  const block = { type: "text", text: "" };
  const list = { role: "user", content: [block], timestamp: 2 };
  export default function (pi) {
    let requests = 0;
    pi.on("context", ({ messages }) => {
      requests += 1;
      note.content = "note " + requests;
      block.text = "block " + requests;
      return { messages: [note, list, ...messages] };
    });
  }
`;

it("a message that a context handler keeps and changes is sent in its current form", async () => {
  const server = await startLoopbackServer({
    scenario: ({ messages }) =>
      messages.filter(({ role }) => role === "toolResult").length < 2
        ? turn([toolCall("ls", {})])
        : "done",
  });
  onTestFinished(() => server.close());
  const file = join(temporaryFolder(), "counting.mjs");
  writeFileSync(file, counting);
  for (const api of ["openai-completions", "anthropic-messages"] as const) {
    const from = server.requests.length;
    const { session } = await createTestSession([], {
      model: { ...scriptedModel(), api, baseUrl: server.urls[api] },
      stream: createStream(),
      extensions: { paths: [file], onlyNamed: true, hostModules: async () => ({}) },
    });
    await session.prompt("go");
    const sent = server.requests.slice(from).map(({ body }) => JSON.stringify(body));
    const told = sent.map((text) => text.match(/(note|block) \d/g));
    expect(told).toEqual([1, 2, 3].map((count) => [`note ${count}`, `block ${count}`]));
  }
});
