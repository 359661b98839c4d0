import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import { ProviderError } from "../errors.ts";
import type { Delta } from "../provider.ts";
import { Assembler } from "./assemble.ts";

const model: Model = {
  id: "m",
  name: "M",
  api: "test",
  provider: "p",
  baseUrl: "http://localhost",
  reasoning: true,
  input: ["text"],
  cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1000,
  maxTokens: 100,
};

function assemble(...deltas: Delta[]) {
  let calls = 0;
  const assembler = new Assembler(model, {
    now: () => 7,
    createToolCallId: () => `made-${++calls}`,
  });
  const events = [assembler.start(), ...deltas.flatMap((delta) => assembler.push(delta))];
  const finish = () => {
    const { events: last, result } = assembler.finish();
    return { ...result, events: [...events, ...last] };
  };
  return { assembler, events, finish };
}

const stop: Delta = { type: "stop", reason: "stop" };
const call = (key: number, name: string, text = "{}"): Delta => ({
  type: "tool_call",
  key,
  id: `id-${key}`,
  name,
  arguments: text,
});

function outline(events: readonly AssistantMessageEvent[]): string[] {
  return events.map((event) => {
    const at = "contentIndex" in event ? ` ${event.contentIndex}` : "";
    return `${event.type}${at}${"delta" in event ? ` ${event.delta}` : ""}`;
  });
}

describe("Assembler", () => {
  it("numbers blocks by first appearance and keeps interleaved ones apart", () => {
    const { events, message } = assemble(
      { type: "thinking", key: "b", text: "hm" },
      { type: "text", key: "a", text: "one" },
      { type: "thinking", key: "b", text: "m" },
      { type: "text", key: "a", text: " two" },
      { type: "block_end", key: "b" },
      stop,
    ).finish();
    expect(outline(events)).toEqual([
      "start",
      "thinking_start 0",
      "thinking_delta 0 hm",
      "text_start 1",
      "text_delta 1 one",
      "thinking_delta 0 m",
      "text_delta 1  two",
      "thinking_end 0",
      "text_end 1",
      "done",
    ]);
    expect(message.content).toEqual([
      { type: "thinking", thinking: "hmm" },
      { type: "text", text: "one two" },
    ]);
  });

  it("holds a tool call back until its name is known", () => {
    const { events, message } = assemble(
      { type: "tool_call", key: 0, id: "x", arguments: '{"a"' },
      { type: "tool_call", key: 0, arguments: ":1" },
      { type: "tool_call", key: 0, name: "run", arguments: "}" },
      stop,
    ).finish();
    expect(outline(events)).toEqual([
      "start",
      "toolcall_start 0",
      'toolcall_delta 0 {"a":1',
      "toolcall_delta 0 }",
      "toolcall_end 0",
      "done",
    ]);
    expect(events[1]).toMatchObject({ id: "x", toolName: "run" });
    expect(message.content).toEqual([
      { type: "toolCall", id: "x", name: "run", arguments: { a: 1 } },
    ]);
    expect(message.stopReason).toBe("toolUse");
  });

  it("generates an id for a call without one", () => {
    const { message } = assemble({ type: "tool_call", key: 0, name: "run" }, stop).finish();
    expect(message.content).toMatchObject([{ id: "made-1", arguments: {} }]);
  });

  it("fails a reply with a call that never gets a name", () => {
    const { message, error } = assemble({ type: "tool_call", key: 0, id: "x" }, stop).finish();
    expect(message).toMatchObject({ stopReason: "error", content: [] });
    expect(error?.message).toContain("without a name");
  });

  it("shows the best arguments so far in every snapshot", () => {
    const { events } = assemble(
      call(0, "edit", '{"path":"a.t'),
      { type: "tool_call", key: 0, arguments: 'xt","n":4' },
      { type: "tool_call", key: 0, arguments: "2}" },
    );
    const last = events.at(-1);
    if (last?.type !== "toolcall_delta") throw new TypeError("no delta");
    expect(last.partial.content[0]).toMatchObject({ arguments: { path: "a.txt", n: 42 } });
  });

  it("trusts no part of complete but malformed arguments", () => {
    const { message } = assemble(call(0, "rm", '{"path":"/","keep":tru'), stop).finish();
    expect(message.content).toEqual([
      {
        type: "toolCall",
        id: "id-0",
        name: "rm",
        arguments: {},
        argumentsError: '{"path":"/","keep":tru',
      },
    ]);
  });

  it.each(["[1]", '"text"', "7"])(
    "treats arguments that are not an object (%s) as malformed",
    (raw) => {
      const { message } = assemble(call(0, "run", raw), stop).finish();
      expect(message.content).toMatchObject([{ arguments: {}, argumentsError: raw }]);
    },
  );

  it.each(["", " ", "null"])("accepts %j as a call without arguments", (raw) => {
    const [block] = assemble(call(0, "run", raw), stop).finish().message.content;
    expect(block).toEqual({ type: "toolCall", id: "id-0", name: "run", arguments: {} });
  });

  it("emits only what a closing repetition adds", () => {
    const { events, message } = assemble(
      { type: "text", key: 0, text: "Hel" },
      { type: "block_end", key: 0, text: "Hello" },
      call(1, "run", '{"a"'),
      { type: "block_end", key: 1, arguments: '{"a":1}' },
      { type: "block_end", key: 2, text: "never streamed" },
      { type: "block_end", key: 2, text: "never streamed twice" },
      stop,
    ).finish();
    expect(outline(events).filter((line) => line.includes("delta"))).toEqual([
      "text_delta 0 Hel",
      "text_delta 0 lo",
      'toolcall_delta 1 {"a"',
      "toolcall_delta 1 :1}",
      "text_delta 2 never streamed",
    ]);
    expect(message.content).toMatchObject([
      { text: "Hello" },
      { arguments: { a: 1 } },
      { text: "never streamed" },
    ]);
  });

  it("uses the closing repetition if the streamed arguments are broken", () => {
    const { message } = assemble(
      call(0, "run", '{"a":1,,'),
      { type: "block_end", key: 0, arguments: '{"a":2}' },
      stop,
    ).finish();
    expect(message.content).toMatchObject([{ arguments: { a: 2 } }]);
    expect(message.content[0]).not.toHaveProperty("argumentsError");
  });

  it("collects signatures on their blocks", () => {
    const { message } = assemble(
      { type: "thinking", key: 0, text: "", redacted: true },
      { type: "signature", key: 0, signature: "opaque" },
      { type: "text", key: 1, text: "x" },
      { type: "signature", key: 1, signature: "a", append: true },
      { type: "signature", key: 1, signature: "b", append: true },
      { type: "tool_call", key: 2 },
      { type: "signature", key: 2, signature: "early" },
      { type: "tool_call", key: 2, id: "i", name: "run" },
      stop,
    ).finish();
    expect(message.content).toEqual([
      { type: "thinking", thinking: "", redacted: true, thinkingSignature: "opaque" },
      { type: "text", text: "x", textSignature: "ab" },
      { type: "toolCall", id: "i", name: "run", arguments: {}, thoughtSignature: "early" },
    ]);
  });

  it("keeps the known usage and prices it", () => {
    const { message } = assemble(
      { type: "usage", tokens: { input: 100, cacheRead: 5 } },
      { type: "usage", tokens: { output: 10 } },
      stop,
    ).finish();
    expect(message.usage).toMatchObject({ input: 100, output: 10, cacheRead: 5, totalTokens: 115 });
    expect(message.usage.cost.total).toBeCloseTo(0.00012);
  });

  it("drops calls whose arguments were cut off by an abort, and keeps complete ones", () => {
    const { assembler } = assemble(
      { type: "text", key: 9, text: "so far" },
      call(0, "half", '{"a":'),
      call(1, "whole", '{"b":1}'),
    );
    const failure = new ProviderError({ code: "aborted", message: "Request was aborted" });
    const { events, result } = assembler.fail(failure);
    expect(outline(events)).toEqual(["error"]);
    expect(result.message).toMatchObject({
      stopReason: "aborted",
      errorMessage: "Request was aborted",
      content: [{ text: "so far" }, { name: "whole", arguments: { b: 1 } }],
    });
    expect(result.message.content).toHaveLength(2);
  });

  it("treats a stream without a terminal event as a failed connection", () => {
    const { message, error } = assemble({ type: "text", key: 0, text: "half" }).finish();
    expect(error).toMatchObject({ code: "network", isRetryable: true });
    expect(message).toMatchObject({ stopReason: "error", content: [{ text: "half" }] });
  });

  it("keeps the vendor's explanation when it stops with an error", () => {
    const { message, error } = assemble({
      type: "stop",
      reason: "error",
      raw: "refusal",
      errorMessage: "Not allowed",
      code: "content_filtered",
    }).finish();
    expect(message).toMatchObject({ errorMessage: "Not allowed", rawStopReason: "refusal" });
    expect(error).toMatchObject({ code: "content_filtered", isRetryable: false });
  });

  it("reports tool use exactly when a reply has calls", () => {
    expect(assemble(call(0, "run"), stop).finish().message.stopReason).toBe("toolUse");
    const said = { type: "text", key: 0, text: "Hi" } as const;
    const claimed = assemble(said, { type: "stop", reason: "toolUse" }).finish();
    expect(claimed.message.stopReason).toBe("stop");
    const cut = assemble(call(0, "run"), { type: "stop", reason: "length" }).finish();
    expect(cut.message.stopReason).toBe("length");
  });

  it("does not change earlier snapshots", () => {
    const { events } = assemble(
      { type: "text", key: 0, text: "a" },
      { type: "text", key: 0, text: "b" },
      { type: "usage", tokens: { input: 3 } },
      { type: "text", key: 1, text: "c" },
    );
    const partials = events.flatMap((event) => ("partial" in event ? [event.partial] : []));
    expect(partials.map(({ content }) => content)).toEqual([
      [],
      [{ type: "text", text: "" }],
      [{ type: "text", text: "a" }],
      [{ type: "text", text: "ab" }],
      [
        { type: "text", text: "ab" },
        { type: "text", text: "" },
      ],
      [
        { type: "text", text: "ab" },
        { type: "text", text: "c" },
      ],
    ]);
    expect(partials.map(({ usage }) => usage.input)).toEqual([0, 0, 0, 0, 3, 3]);
  });
});
