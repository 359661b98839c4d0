import type { AgentMessage, ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ClearableResults, type ShownAs } from "./clearable-results.ts";
import { LINE_TOKENS } from "./estimate.ts";

const noUsage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const user: AgentMessage = { role: "user", content: "go on", timestamp: 1 };
let ids = 0;

interface ResultFacts {
  readonly tokens?: number;
  readonly text?: string;
  readonly isError?: boolean;
  readonly details?: unknown;
}

/** A call and its result of the given size in tokens. */
function used(
  name: string,
  args: Record<string, unknown>,
  { tokens = 500, text = "", isError = false, details }: ResultFacts = {},
): [AgentMessage, ToolResultMessage] {
  const id = `c${ids++}`;
  const call: AgentMessage = {
    role: "assistant",
    content: [{ type: "toolCall", id, name, arguments: args }],
    api: "a",
    provider: "p",
    model: "m",
    usage: noUsage,
    stopReason: "toolUse",
    timestamp: 1,
  };
  const content = [{ type: "text" as const, text: `${tokens} ${text}` }];
  const result: ToolResultMessage = {
    role: "toolResult",
    toolCallId: id,
    toolName: name,
    content,
    isError,
    ...(details === undefined ? {} : { details }),
    timestamp: ids,
  };
  return [call, result];
}

const sizeOf = (message: AgentMessage) => {
  const [block] = message.role === "toolResult" ? message.content : [];
  return block?.type === "text" ? Number(block.text.split(" ")[0]) : 10;
};

function judge(messages: readonly (AgentMessage | [AgentMessage, ToolResultMessage])[]) {
  const results = new ClearableResults({
    resolvePath: (path) => path.replace(/^\.\//, ""),
    sizeOf,
  });
  for (const message of messages.flat()) results.add(message);
  return results;
}

const texts = (found: ReadonlyMap<ToolResultMessage, number>) =>
  [...found.keys()].map(({ content: [block] }) => (block?.type === "text" ? block.text : ""));
const cleared = (results: ClearableResults) => texts(results.before(Infinity));

describe("clearable tool results", () => {
  it.each<[string, [string, Record<string, unknown>, ResultFacts?][], string[]]>([
    [
      "a file that was read again",
      [
        ["read", { path: "a" }, { text: "old" }],
        ["read", { path: "./a" }, { text: "new" }],
      ],
      ["500 old"],
    ],
    [
      "a file that was edited",
      [
        ["read", { path: "a" }, { text: "old" }],
        ["edit", { path: "a" }],
      ],
      ["500 old"],
    ],
    [
      "a file that was written",
      [
        ["read", { path: "a" }, { text: "old" }],
        ["write", { path: "a" }],
      ],
      ["500 old"],
    ],
    [
      "a part within a part that was read later",
      [
        ["read", { path: "a", offset: 10, limit: 5 }, { text: "old" }],
        ["read", { path: "a", offset: 5, limit: 50 }],
      ],
      ["500 old"],
    ],
    [
      "a search that was repeated",
      [
        ["grep", { pattern: "x" }, { text: "old" }],
        ["grep", { pattern: "x" }],
      ],
      ["500 old"],
    ],
    [
      "not another file",
      [
        ["read", { path: "a" }],
        ["read", { path: "b" }],
        ["edit", { path: "c" }],
      ],
      [],
    ],
    [
      "not a part that a later one does not cover",
      [
        ["read", { path: "a", offset: 1, limit: 9 }],
        ["read", { path: "a", offset: 5, limit: 50 }],
      ],
      [],
    ],
    [
      "not a file of which less was shown the second time",
      [
        ["read", { path: "a" }],
        ["read", { path: "a" }, { text: "cut", details: { truncation: { outputLines: 10 } } }],
      ],
      [],
    ],
    [
      "not for a read or change that failed",
      [
        ["read", { path: "a" }],
        ["read", { path: "a" }, { text: "gone", isError: true }],
        ["edit", { path: "a" }, { isError: true }],
      ],
      [],
    ],
    [
      "not a command that was repeated",
      [
        ["bash", { command: "ls" }],
        ["bash", { command: "ls" }, { text: "new" }],
      ],
      [],
    ],
    [
      "not what is shorter than the line",
      [
        ["read", { path: "a" }, { tokens: LINE_TOKENS }],
        ["edit", { path: "a" }],
      ],
      [],
    ],
  ])("%s", (_, calls, expected) => {
    expect(cleared(judge([user, ...calls.map((call) => used(...call))]))).toEqual(expected);
  });

  it("include large outputs older than the last two user messages", () => {
    const old = used("bash", { command: "1" }, { tokens: 2001, text: "old" });
    const small = used("bash", { command: "2" }, { tokens: 2000 });
    const recent = used("bash", { command: "3" }, { tokens: 9000 });
    expect(cleared(judge([user, old, small, user, recent]))).toEqual([]);
    const results = judge([user, old, small, user, recent, user]);
    expect(cleared(results)).toEqual(["2001 old"]);
    expect(results.tokens).toBe(2001 - LINE_TOKENS);
  });

  it("can be limited to those before a message, so that the current prompt stays whole", () => {
    const first = used("read", { path: "a" }, { text: "1" });
    const second = used("read", { path: "a" }, { text: "2" });
    const results = judge([user, first, user, second, used("read", { path: "a" }, { text: "3" })]);
    expect(texts(results.before(results.lastUserAt))).toEqual(["500 1"]);
    expect(cleared(results)).toEqual(["500 1", "500 2"]);
  });

  it("exclude a result that a later unchanged one refers to, until both are old", () => {
    const first = used("read", { path: "a" }, { tokens: 3000, text: "same" });
    const again = used("read", { path: "a" }, { tokens: 3000, text: "same" });
    const results = judge([user, first, user, user]);
    expect(cleared(results)).toEqual(["3000 same"]);
    results.add(again[0]);
    expect(results.sameAs(again[1])).toBe(first[1]);
    results.add(again[1], "unchanged");
    expect([cleared(results), results.tokens]).toEqual([[], 0]);
    results.add(user);
    expect(cleared(results)).toEqual([]);
    results.add(user);
    expect(cleared(results)).toEqual(["3000 same"]);
  });

  it("never treat a cleared result, or one with another outcome, as the same", () => {
    const first = used("read", { path: "a" }, { text: "same" });
    const results = judge([user, first, used("edit", { path: "a" })]);
    const [call, again] = used("read", { path: "a" }, { text: "same" });
    results.add(call);
    expect(results.sameAs(again)).toBe(first[1]);
    expect(results.sameAs({ ...again, isError: true })).toBeUndefined();
    const after = new ClearableResults({ resolvePath: (path) => path, sizeOf });
    for (const message of [user, ...first, call]) after.add(message, "cleared");
    expect(after.sameAs(again)).toBeUndefined();
    expect(after.tokens).toBe(0);
  });

  it("report how many tokens have to be sent again", () => {
    const results = judge([
      used("bash", { command: "1" }, { tokens: 700 }),
      used("read", { path: "a" }, { tokens: 500 }),
      used("bash", { command: "2" }, { tokens: 300 }),
      used("edit", { path: "a" }, { tokens: 40 }),
    ]);
    // Two calls of 10 tokens, and the replacement line.
    expect(results.rewritten).toBe(300 + 40 + 2 * 10 + LINE_TOKENS);
  });
});

/** A step of a conversation: a read, change, search or command, whose result may repeat an earlier one. */
const step = fc.oneof(
  { weight: 1, arbitrary: fc.constant("user" as const) },
  {
    weight: 5,
    arbitrary: fc.record({
      name: fc.constantFrom("read", "edit", "grep", "bash"),
      path: fc.constantFrom("a", "b"),
      offset: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      limit: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      tokens: fc.constantFrom(10, 500, 3000),
      isError: fc.boolean(),
    }),
  },
);

describe("clearing in any conversation", () => {
  it("keeps the newest view of a file, counts each cleared result once, and keeps the order", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const results = new ClearableResults({ resolvePath: (path) => path, sizeOf });
        const visible = new Map<ToolResultMessage, { at: number; key: string }>();
        const shown: ShownAs[] = [];
        let at = 0;
        for (const each of steps) {
          if (each === "user") {
            results.add(user);
            at += 1;
            continue;
          }
          const { name, tokens, isError, ...args } = each;
          const [call, result] = used(name, args, { tokens, isError, text: args.path });
          results.add(call);
          const same = results.sameAs(result);
          // A reference may only point to a result that the model still sees.
          if (same !== undefined) expect(visible.has(same)).toBe(true);
          results.add(result, same === undefined ? "whole" : "unchanged");
          shown.push(same === undefined ? "whole" : "unchanged");
          if (same === undefined)
            visible.set(result, { at: at + 1, key: JSON.stringify([name, args]) });
          at += 2;
          // Neither the latest result nor the one that it refers to is clearable.
          expect(results.before(Infinity).has(same ?? result)).toBe(false);
        }
        const found = results.before(Infinity);
        for (const message of found.keys()) expect(visible.has(message)).toBe(true);
        const saved = [...found.values()].reduce((sum, tokens) => sum + tokens - LINE_TOKENS, 0);
        expect(results.tokens).toBe(saved);
        const places = [...found.keys()].map((message) => visible.get(message)?.at ?? -1);
        expect(places).toEqual(places.toSorted((left, right) => left - right));
      }),
      { numRuns: 300 },
    );
  });

  it("takes time linear in the length of the conversation", () => {
    const spent = (count: number) => {
      const messages = Array.from({ length: count }, (_, index) => [
        ...(index % 50 === 0 ? [user] : []),
        ...used("read", { path: `f${index % 7}`, offset: index, limit: 1 }, { tokens: 3000 }),
      ]).flat();
      const begun = process.cpuUsage();
      judge(messages);
      return process.cpuUsage(begun).user;
    };
    spent(2000);
    expect(spent(16_000)).toBeLessThan(Math.max(40 * spent(2000), 1_000_000));
  });
});
