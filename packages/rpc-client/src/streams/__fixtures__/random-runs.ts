import fc from "fast-check";
import type { StreamEvent } from "../run-part.ts";

type Event = StreamEvent & Readonly<Record<string, unknown>>;

interface Call {
  readonly path: string;
  readonly outcome: "ok" | "error" | "denied" | "skipped" | "lost";
  readonly asks: boolean;
  readonly subagent: boolean;
}

const text = fc.string({ unit: fc.constantFrom("a", "<", "\n", "ü", '"', "\u2028"), maxLength: 8 });
const block = fc.record({
  kind: fc.constantFrom("text" as const, "thinking" as const),
  pieces: fc.array(text, { maxLength: 4 }),
});
const call: fc.Arbitrary<Call> = fc.record({
  path: text,
  outcome: fc.constantFrom("ok", "error", "denied", "skipped", "lost"),
  asks: fc.boolean(),
  subagent: fc.boolean(),
});
const turn = fc.record({
  blocks: fc.array(block, { maxLength: 3 }),
  calls: fc.array(call, { maxLength: 2 }),
  steering: fc.boolean(),
});
const run = fc.record({
  turns: fc.array(turn, { minLength: 1, maxLength: 3 }),
  status: fc.constantFrom("completed", "aborted", "error"),
});

/** Events of sessions in the form that a host sends. */
export const randomRuns: fc.Arbitrary<Event[]> = fc
  .array(run, { minLength: 1, maxLength: 3 })
  .map((runs) => runs.flatMap((one, index) => [...eventsOf(one, `p${index}`)]));

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5 };
const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost };

function* eventsOf(
  { turns, status }: typeof run extends fc.Arbitrary<infer Run> ? Run : never,
  promptId: string,
): Generator<Event> {
  const user = { role: "user", content: "hi", timestamp: 0 };
  yield { type: "agent_start", promptId };
  for (const [number, { blocks, calls, steering }] of turns.entries()) {
    yield { type: "turn_start", promptId };
    if (number === 0 || steering) {
      yield { type: "message_start", message: user };
      yield { type: "message_end", message: user };
    }
    const named = calls.map((one, index) => ({
      ...one,
      // Some models number the calls of each reply from 0.
      id: `${promptId}-call${index}`,
    }));
    const content = [
      ...blocks.map(({ kind, pieces }) =>
        kind === "text"
          ? { type: "text", text: pieces.join("") }
          : { type: "thinking", thinking: pieces.join("") },
      ),
      ...named.map(({ id, path }) => ({
        type: "toolCall",
        id,
        name: "read",
        arguments: { path },
      })),
    ];
    const message = {
      role: "assistant",
      content,
      api: "x",
      provider: "p",
      model: "m",
      usage,
      stopReason: calls.length > 0 ? "toolUse" : "stop",
      timestamp: 0,
    };
    yield { type: "message_start", message: { ...message, content: [] } };
    const step = (one: object) => ({ type: "message_update", assistantMessageEvent: one });
    for (const [contentIndex, { kind, pieces }] of blocks.entries()) {
      yield step({ type: `${kind}_start`, contentIndex });
      for (const delta of pieces) yield step({ type: `${kind}_delta`, contentIndex, delta });
      yield step({ type: `${kind}_end`, contentIndex, content: pieces.join("") });
    }
    for (const [index, { id, path }] of named.entries()) {
      const contentIndex = blocks.length + index;
      yield step({ type: "toolcall_start", contentIndex, id, toolName: "read" });
      const json = JSON.stringify({ path });
      yield step({ type: "toolcall_delta", contentIndex, delta: json.slice(0, 3) });
      yield step({ type: "toolcall_delta", contentIndex, delta: json.slice(3) });
      const toolCall = { type: "toolCall", id, name: "read", arguments: { path } };
      yield step({ type: "toolcall_end", contentIndex, toolCall });
    }
    yield { type: "message_end", message };
    for (const one of named) yield* callEvents(one, promptId, number);
    yield { type: "turn_end", message, toolResults: [] };
  }
  yield { type: "agent_end", messages: [] };
  const failed = status === "error" ? { error: "Overloaded", code: "overloaded" } : {};
  yield { type: "agent_settled", aborted: status === "aborted", promptId };
  yield { type: "prompt_result", id: 1, promptId, status, ...failed };
}

function* callEvents(
  { id, path, outcome, asks, subagent }: Call & { id: string },
  promptId: string,
  turn: number,
): Generator<Event> {
  const head = { toolCallId: id, toolName: "read" };
  const isError = outcome !== "ok";
  const denied = outcome === "denied" ? { details: { denied: { by: "client" } } } : {};
  const result = { content: [{ type: "text", text: path }], ...denied };
  if (outcome === "lost") return;
  if (outcome !== "skipped") yield { type: "tool_execution_start", ...head, args: { path } };
  const agent = `${promptId}-${turn}-${id}`;
  if (subagent) yield { type: "subagent_start", id: agent, agent: "scout", isolated: false };
  if (asks || outcome === "denied") {
    const request = `${agent}-ask`;
    const params = { toolName: "read", input: { path }, title: "?", reason: "asks", cwd: "/" };
    const by = subagent ? { agentId: agent } : {};
    yield {
      type: "host_request",
      id: request,
      method: "tool_approval",
      promptId,
      toolCallId: id,
      ...by,
      params,
    };
    const answer = outcome === "denied" ? "deny" : "allow";
    yield { type: "host_request_resolved", id: request, by: "client", outcome: answer };
  }
  if (subagent) yield { type: "subagent_end", id: agent, agent: "scout", exitCode: isError ? 1 : 0 };
  if (outcome !== "skipped") {
    if (outcome !== "denied") {
      yield { type: "tool_execution_update", ...head, args: { path }, partialResult: result };
    }
    yield { type: "tool_execution_end", ...head, result, isError };
  }
  const message = { role: "toolResult", ...head, ...result, isError, timestamp: 0 };
  yield { type: "message_start", message };
  yield { type: "message_end", message };
}

/** The events that a host keeps for replay: deltas of blocks that have ended are dropped. */
export function asReplayed(events: readonly Event[]): Event[] {
  return events.filter((event) => {
    const { type } = (event.assistantMessageEvent ?? {}) as { type?: string };
    return type?.endsWith("_delta") !== true && event.type !== "tool_execution_update";
  });
}
