import type { SessionEvent } from "@tau-agent/rpc-protocol/events";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recordFrames } from "../../../test/recording/record-host.ts";
import { reply, textBlock } from "./__fixtures__/test-events.ts";
import { EventEncoder } from "./encode-event.ts";

const encodeAs = (form: "full" | "delta", events: readonly SessionEvent[]) => {
  const encoder = new EventEncoder();
  encoder.form = form;
  const lines = events.map((event) => encoder.encode(event));
  recordFrames(lines);
  return lines;
};

describe("the full form", () => {
  it("matches JSON.stringify for any text", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("\u2028", "\ud800", '"}', "\\", "\n"),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), (pieces) => {
        for (const event of textBlock(pieces)) {
          const [line = ""] = encodeAs("full", [event]);
          expect(line.endsWith("\n")).toBe(true);
          expect(line.slice(0, -1)).not.toMatch(/[\n\u2028\u2029]/);
          expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(event)));
        }
      }),
    );
  });

  it("keeps the keys of a frame in the documented order", () => {
    const [, delta] = textBlock(["x"]);
    const frame = JSON.parse(encodeAs("full", [delta!])[0]!);
    expect(Object.keys(frame)).toEqual(["type", "message", "assistantMessageEvent"]);
    expect(Object.keys(frame.assistantMessageEvent)).toEqual([
      "type",
      "contentIndex",
      "delta",
      "partial",
    ]);
  });

  it("contains the result of a reply's steps, and leaves the rest to the end of its message", () => {
    const call = { type: "toolCall" as const, id: "1", name: "ls", arguments: {} };
    const message = reply("", {
      responseId: "r",
      responseModel: "m2",
      content: [
        { type: "text", text: "a", textSignature: "s" },
        { type: "thinking", thinking: "b", thinkingSignature: "s", redacted: true },
        { ...call, thoughtSignature: "s" },
      ],
    });
    const step = { type: "toolcall_end" as const, contentIndex: 2, partial: message };
    const toolCall = { ...call, thoughtSignature: "s" };
    const event: SessionEvent = {
      type: "message_update",
      message,
      assistantMessageEvent: { ...step, toolCall },
    };
    const [full, delta] = (["full", "delta"] as const).map((form) =>
      JSON.parse(encodeAs(form, [event])[0]!),
    );
    const shown = reply("", {
      content: [{ type: "text", text: "a" }, { type: "thinking", thinking: "b" }, call],
    });
    expect(full.message).toEqual(shown);
    expect(full.assistantMessageEvent).toEqual({ ...step, toolCall: call, partial: shown });
    expect(delta.assistantMessageEvent.toolCall).toEqual(call);
  });

  it("distinguishes message and partial when they differ", () => {
    const [, delta] = textBlock(["x"]);
    const event = { ...delta!, message: reply("other") };
    expect(JSON.parse(encodeAs("full", [event])[0]!)).toEqual(JSON.parse(JSON.stringify(event)));
  });
});

describe("the delta form", () => {
  it("contains neither message nor partial, but usage", () => {
    const events = textBlock(["a", "b"]);
    const frames = encodeAs("delta", events).map((line) => JSON.parse(line));
    for (const frame of frames) {
      expect(frame).not.toHaveProperty("message");
      expect(frame.assistantMessageEvent).not.toHaveProperty("partial");
    }
    expect(frames.map(({ usage }) => usage)).toEqual(events.map(() => reply("").usage));
    expect(frames[1].assistantMessageEvent).toEqual({
      type: "text_delta",
      contentIndex: 0,
      delta: "a",
    });
  });

  it("stops repeating the same usage in a long reply", () => {
    const first = textBlock(Array.from({ length: 1_000 }, () => "x"));
    const message = reply("y", { usage: { ...reply("").usage } });
    const next = textBlock(["y"]).map((event) => ({ ...event, message }));
    const lines = encodeAs("delta", [...first, ...next]);
    const having = lines.map((line, index) => (line.includes('"usage"') ? index : -1));
    const sent = having.filter((index) => index >= 0);
    expect(sent.length).toBeLessThan(100);
    expect(sent.slice(-3)).toEqual([1_002, 1_003, 1_004]);
  });

  it("has the same size for a delta however long the reply already is", () => {
    const events = textBlock(Array.from({ length: 2000 }, () => "some text"));
    const lines = encodeAs("delta", events.slice(1, -1)).slice(100);
    expect(lines.at(-1)?.length).toBe(lines[1]?.length);
  });

  it("leaves every other event unchanged", () => {
    const event: SessionEvent = { type: "message_end", message: reply("x") };
    expect(encodeAs("delta", [event])).toEqual(encodeAs("full", [event]));
  });
});
