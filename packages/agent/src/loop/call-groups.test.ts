import { toolCall, turn } from "@tau-agent/ai/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createTestAgent,
  ok,
  resultTexts,
  tool,
  unpaired,
  user,
} from "../__fixtures__/test-agent.ts";
import type { AgentTool } from "../tools/tool.ts";
import type { ToolExecutionMode } from "./call-groups.ts";
import type { AgentOptions } from "./run.ts";
import { SKIPPED_TEXT } from "./tool-execution.ts";

/** A call in a random reply. */
interface Planned {
  readonly kind: "read" | "shell" | "look" | "write" | "other";
  readonly file: string;
  /** The number of event loop turns that it takes. */
  readonly turns: number;
  readonly fails: boolean;
  /** What happens while it runs. */
  readonly meanwhile: "nothing" | "steer" | "abort";
}

interface Span {
  readonly index: number;
  readonly begun: number;
  ended: number;
}

/** Runs a reply with the calls; returns when each of them ran. */
async function play(
  plan: readonly Planned[],
  mode: ToolExecutionMode,
  options: Partial<AgentOptions> = {},
) {
  let clock = 0;
  const spans: Span[] = [];
  const execute: AgentTool["execute"] = async (_, { toolCallId, signal }) => {
    const index = Number(toolCallId);
    const { turns, fails, meanwhile } = plan[index] ?? { turns: 0, fails: false };
    const span: Span = { index, begun: clock++, ended: Number.POSITIVE_INFINITY };
    spans.push(span);
    if (meanwhile === "steer") agent.steering.enqueue(user("stop"));
    if (meanwhile === "abort") agent.abort();
    for (let turn = 0; turn < turns && !signal.aborted; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    span.ended = clock++;
    if (fails) throw new Error(`failed ${index}`);
    return ok(`result ${index}`);
  };
  const tools: AgentTool[] = [
    tool("read", execute, { isReadOnly: true }),
    tool("shell", execute, { isReadOnlyCall: async ({ looks }) => looks === true }),
    tool("write", execute, { writtenPath: ({ file }) => `/${file}` }),
    tool("other", execute),
  ];
  const calls = plan.map(({ kind, file }, index) =>
    kind === "look"
      ? toolCall("shell", { looks: true }, { id: `${index}` })
      : toolCall(kind, { file }, { id: `${index}` }),
  );
  const test = createTestAgent([turn(calls), "done", "done"], { tools, ...options });
  const { agent } = test;
  agent.toolExecution = mode;
  await agent.run([user("go")]);
  return { ...test, spans };
}

const planned: fc.Arbitrary<Planned> = fc.record({
  kind: fc.constantFrom("read", "shell", "look", "write", "other"),
  file: fc.constantFrom("a", "b"),
  turns: fc.nat(4),
  fails: fc.boolean(),
  meanwhile: fc.oneof(
    { weight: 8, arbitrary: fc.constant("nothing" as const) },
    fc.constantFrom("steer" as const, "abort" as const),
  ),
});

function overlap(one: Span, other: Span): boolean {
  return one.begun < other.ended && other.begun < one.ended;
}

describe.each(["sequential", "parallel"] as const)("any reply, %s", (mode) => {
  it("has one result for each call, in the order of the calls, and runs none twice", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(planned, { minLength: 1, maxLength: 8 }), async (plan) => {
        const { recorded, events, spans } = await play(plan, mode);
        expect(unpaired(recorded)).toEqual([]);
        expect(Object.keys(resultTexts(recorded))).toEqual(plan.map((_, index) => `${index}`));
        expect(new Set(spans.map(({ index }) => index)).size).toBe(spans.length);
        const ends = events.filter(({ type }) => type === "tool_execution_end");
        expect(ends).toHaveLength(plan.length);
      }),
      { numRuns: 150 },
    );
  });

  it("skips the rest between groups when the user steers", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(planned, { minLength: 1, maxLength: 8 }), async (plan) => {
        const { recorded, spans } = await play(plan, mode);
        const texts = Object.values(resultTexts(recorded));
        const skipped = texts.indexOf(SKIPPED_TEXT);
        if (skipped === -1) return;
        expect(mode).toBe("sequential");
        expect(texts.slice(skipped).every((text) => text === SKIPPED_TEXT)).toBe(true);
        expect(spans.every(({ index }) => index < skipped)).toBe(true);
        const before = plan.slice(0, skipped).map(({ meanwhile }) => meanwhile);
        expect(before).toContain("steer");
      }),
      { numRuns: 150 },
    );
  });
});

const reads = ({ kind }: Planned) => kind === "read" || kind === "look";

it("calls run one after the other, except for adjacent calls that only read", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(planned, { minLength: 2, maxLength: 8 }), async (plan) => {
      const { spans } = await play(plan, "sequential");
      for (const one of spans) {
        for (const other of spans.filter(({ index }) => index > one.index)) {
          const between = plan.slice(one.index, other.index + 1);
          if (!between.every(reads)) expect(one.ended).toBeLessThan(other.begun);
        }
      }
    }),
    { numRuns: 150 },
  );
});

it("parallel calls that write the same file keep their order; all others start together", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(planned, { minLength: 2, maxLength: 8 }), async (given) => {
      const plan = given.map((call) => ({ ...call, turns: 2, meanwhile: "nothing" as const }));
      const { spans } = await play(plan, "parallel");
      expect(spans).toHaveLength(plan.length);
      for (const one of spans) {
        for (const other of spans.filter(({ index }) => index > one.index)) {
          const [first, second] = [plan[one.index], plan[other.index]];
          const isSameFile =
            first?.kind === "write" && second?.kind === "write" && first.file === second.file;
          const isFirst = (call: Planned | undefined, index: number) =>
            call?.kind !== "write" ||
            !plan.slice(0, index).some(({ kind, file }) => kind === "write" && file === call.file);
          if (isSameFile) expect(one.ended).toBeLessThan(other.begun);
          else if (isFirst(first, one.index) && isFirst(second, other.index)) {
            expect(overlap(one, other)).toBe(true);
          }
        }
      }
    }),
    { numRuns: 150 },
  );
});

it("a result is recorded once those before it are, while later calls still run", async () => {
  const call = { kind: "other", file: "a", fails: false, meanwhile: "nothing" } as const;
  const plan = [
    { ...call, turns: 0 },
    { ...call, turns: 20 },
  ];
  const order: string[] = [];
  const record: AgentOptions["record"] = (message) => {
    if (message.role === "toolResult") order.push(`recorded ${message.toolCallId}`);
  };
  const emit: AgentOptions["emit"] = (event) => {
    if (event.type === "tool_execution_end") order.push(`ended ${event.toolCallId}`);
  };
  await play(plan, "parallel", { record, emit });
  expect(order).toEqual(["ended 0", "recorded 0", "ended 1", "recorded 1"]);
});

it("a read-only call runs alone once a hook has made it write", async () => {
  const call = { file: "a", turns: 2, fails: false, meanwhile: "nothing" } as const;
  const plan = [
    { ...call, kind: "look" },
    { ...call, kind: "read" },
    { ...call, kind: "read" },
  ] as const;
  const beforeToolCall = async ({ name }: { readonly name: string }) =>
    name === "shell" ? { arguments: { looks: false } } : undefined;
  const { spans } = await play(plan, "sequential", { hooks: { beforeToolCall } });
  const [shell, read, other] = spans as [Span, Span, Span];
  expect(shell.ended).toBeLessThan(read.begun);
  expect(overlap(read, other)).toBe(true);
});
