import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commands } from "../commands/index.ts";
import { protocolNames } from "../dialects/index.ts";
import { decodeClientFrame } from "./frame.ts";
import { FrameDecoder } from "./frame-decoder.ts";

/** The frames that a new decoder passes on for the lines. */
async function decode(lines: readonly string[]): Promise<unknown[]> {
  const frames: unknown[] = [];
  const decoder = new FrameDecoder((frame) => frames.push(frame));
  for (const line of lines) decoder.push(line);
  await decoder.idle();
  return frames;
}

const bare = Object.keys(commands).filter((name) => name.startsWith("get_"));

/** Nearly always a valid value, so that most lines have at most one error. */
const mostly = (right: readonly unknown[], wrong: readonly unknown[] = []) =>
  fc.oneof(
    { weight: 15, arbitrary: fc.constantFrom(...right) },
    fc.constantFrom<unknown>(...wrong, 7, null, {}, [], [7]),
  );
const optional = <Shape extends object>(shape: { [M in keyof Shape]: fc.Arbitrary<Shape[M]> }) =>
  fc.record(shape, { requiredKeys: [] });
const words = mostly(["hello", "", "pi"]);
const lists = mostly([["a", "b"], []]);
const id = mostly(["a", 1], [1.5, 2 ** 60, true]);
const initialize = optional({
  id,
  protocol: mostly(protocolNames, ["PI"]),
  stream: mostly(["full", "delta"], ["half"]),
  mergeMs: mostly([0, 12.5, 100], [100.1, -1, "5"]),
  clientInfo: fc.oneof(
    {
      weight: 9,
      arbitrary: fc.record({ name: words, version: words }, { requiredKeys: ["name"] }),
    },
    optional({ name: words, more: words }),
    words,
  ),
  events: lists,
  capabilities: fc.oneof(
    { weight: 9, arbitrary: optional({ hostRequests: mostly([true, ["dialog"]]), more: words }) },
    words,
    fc.constant(JSON.parse('{"__proto__":{"hostRequests":true}}') as unknown),
  ),
});
const prompt = optional({
  id,
  message: words,
  streamingBehavior: mostly(["steer", "followUp", "follow-up"], ["no"]),
});
const switchSession = optional({ id, sessionPath: words });
const fork = optional({ id, entryId: words });
const setName = optional({ id, name: words });
const more = optional({ images: lists, promptId: words, more: words });
const first = fc
  .tuple(
    fc.oneof(
      initialize.map((members) => ({ type: "initialize", ...members })),
      prompt.map((members) => ({ type: "prompt", ...members })),
      switchSession.map((members) => ({ type: "switch_session", ...members })),
      fork.map((members) => ({ type: "fork", ...members })),
      setName.map((members) => ({ type: "set_session_name", ...members })),
    ),
    fc.oneof({ weight: 9, arbitrary: fc.constant({}) }, more),
  )
  .map(([members, others]) => JSON.stringify({ ...members, ...others }));
const line = fc.oneof(
  first,
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
  it("passes on the results of decodeClientFrame for each line, in order", async () => {
    const check = fc.asyncProperty(fc.array(line, { maxLength: 6 }), async (lines) => {
      expect(await decode(lines)).toEqual(lines.map((text) => decodeClientFrame(text)));
    });
    await fc.assert(check, { numRuns: 300 });
  });

  it("decodes the first line like decodeClientFrame, with and without the table", async () => {
    let early = 0;
    const check = fc.asyncProperty(first, async (text) => {
      const frames: unknown[] = [];
      const decoder = new FrameDecoder((frame) => frames.push(frame));
      decoder.push(text);
      early += frames.length;
      await decoder.idle();
      expect(frames).toEqual([decodeClientFrame(text)]);
    });
    await fc.assert(check, { numRuns: 3000 });
    expect(early).toBeGreaterThan(1000);
  });

  it("decodes a client's first commands without waiting for the table of commands", () => {
    const names: string[] = [];
    const decoder = new FrameDecoder((frame) => names.push("name" in frame ? frame.name : ""));
    const members = { stream: "delta", clientInfo: { name: "x" }, capabilities: { more: [1] } };
    decoder.push(JSON.stringify({ type: "initialize", id: "1", ...members }));
    const told = {
      prompt: { message: "hi" },
      switch_session: { sessionPath: "x" },
      fork: { entryId: "x" },
    };
    const known = ["get_state", "get_messages", "get_fork_messages", ...Object.keys(told)];
    for (const type of [...known, "steer", "get_state"]) {
      decoder.push(JSON.stringify({ type, id: 2, ...Reflect.get(told, type) }));
    }
    expect(names).toEqual(["initialize", ...known]);
  });

  it("continues at once when the table is loaded", async () => {
    const names: string[] = [];
    const decoder = new FrameDecoder((frame) => names.push("name" in frame ? frame.name : ""));
    decoder.push('{"type":"compact"}');
    await decoder.idle();
    decoder.push('{"type":"prompt","message":"hi"}');
    expect(names).toEqual(["compact", "prompt"]);
  });

  it("makes lines wait in order, even when one of them starts another wait", async () => {
    const names: string[] = [];
    const later = () => new Promise<void>((resolve) => setImmediate(resolve));
    const decoder: FrameDecoder = new FrameDecoder((frame) => {
      names.push("name" in frame ? frame.name : "");
      if (names.at(-1) === "compact") decoder.hold(later());
    });
    for (const type of ["compact", "get_state", "compact", "get_messages"]) {
      decoder.push(JSON.stringify({ type }));
    }
    expect(names).toEqual([]);
    await decoder.idle();
    expect(names).toEqual(["compact", "get_state", "compact", "get_messages"]);
  });
});
