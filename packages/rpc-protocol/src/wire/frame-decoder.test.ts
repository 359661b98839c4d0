import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commands } from "../commands/index.ts";
import { decodeClientFrame } from "./frame.ts";
import { FrameDecoder } from "./frame-decoder.ts";

/** What comes of the lines, as a fresh decoder hands it on. */
async function decode(lines: readonly string[]): Promise<unknown[]> {
  const frames: unknown[] = [];
  const decoder = new FrameDecoder((frame) => frames.push(frame));
  for (const line of lines) decoder.push(line);
  await decoder.idle();
  return frames;
}

const bare = Object.keys(commands).filter((name) => name.startsWith("get_"));
const line = fc.oneof(
  fc
    .record(
      {
        type: fc.constantFrom<unknown>(...bare, "prompt", "abort", "nonsense", 5, "toString"),
        id: fc.constantFrom<unknown>("a", 1, null, true, {}, ""),
        message: fc.constantFrom<unknown>("hello", 7, null),
        extra: fc.constant(1),
      },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value)),
  fc.constantFrom("", "{", "[]", "null", '"get_state"', '{"type":"get_state"'),
);

describe("FrameDecoder", () => {
  it("hands on what decodeClientFrame makes of each line, in their order", async () => {
    const check = fc.asyncProperty(fc.array(line, { maxLength: 6 }), async (lines) => {
      expect(await decode(lines)).toEqual(lines.map((text) => decodeClientFrame(text)));
    });
    await fc.assert(check, { numRuns: 300 });
  });

  it("answers what a client asks first without waiting for the table of commands", () => {
    const names: string[] = [];
    const decoder = new FrameDecoder((frame) => names.push("name" in frame ? frame.name : ""));
    for (const type of ["get_state", "get_messages", "prompt", "get_state"]) {
      decoder.push(JSON.stringify({ type, message: "hi" }));
    }
    expect(names).toEqual(["get_state", "get_messages"]);
  });

  it("goes on at once when the table is loaded", async () => {
    const names: string[] = [];
    const decoder = new FrameDecoder((frame) => names.push("name" in frame ? frame.name : ""));
    decoder.push('{"type":"abort"}');
    await decoder.idle();
    decoder.push('{"type":"prompt","message":"hi"}');
    expect(names).toEqual(["abort", "prompt"]);
  });

  it("lets lines wait, in their order, also when one of them begins another wait", async () => {
    const names: string[] = [];
    const later = () => new Promise<void>((resolve) => setImmediate(resolve));
    const decoder: FrameDecoder = new FrameDecoder((frame) => {
      names.push("name" in frame ? frame.name : "");
      if (names.at(-1) === "abort") decoder.hold(later());
    });
    for (const type of ["abort", "get_state", "abort", "get_messages"]) {
      decoder.push(JSON.stringify({ type }));
    }
    expect(names).toEqual([]);
    await decoder.idle();
    expect(names).toEqual(["abort", "get_state", "abort", "get_messages"]);
  });
});
