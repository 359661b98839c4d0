/** A command as it is sent. */
export interface SentCommand {
  readonly id: string;
  readonly type: string;
  readonly [member: string]: unknown;
}

/** A pseudorandom sequence that is the same for the same seed. */
export function seededRandom(seed: number): { below(limit: number): number } {
  let state = seed;
  const below = (limit: number): number => {
    // A linear congruential generator, whose high bits are good enough to choose commands.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  return { below };
}

/** Replies of different lengths, with calls and failures of all kinds, and summaries. */
export const randomScenario = `
export default ({ index, tools }) => {
  if (tools.length === 0) return "a summary";
  const call = (name, args) => ({ type: "toolCall", name, arguments: args });
  const usage = index % 5 === 4 ? { input: 195_000, output: 10 } : undefined;
  switch ((index * 7) % 9) {
    case 0: return { content: [{ type: "text", text: "slow ".repeat(40), chunkSize: 5, delayMs: 3 }], usage };
    case 1: return { content: [call("ls", { path: "." }), call("bash", { command: "sleep 0.1; echo hi" })], usage };
    case 2: return { content: "x", fault: { kind: "status", status: 529, message: "Overloaded" } };
    case 3: return { content: [call("bash", { command: "sleep 5" })] };
    case 4: return { content: "x y", fault: { kind: "reset", when: "mid_stream" } };
    case 5: return { content: "x", fault: { kind: "overflow" } };
    case 6: return { content: [call("write", { path: "a.txt", content: "a" }), call("nope", {})], usage };
    default: return { content: "a reply of a few words " + index, usage };
  }
};`;

/** Commands with dialogs, and a veto against some session changes. */
export const randomExtension = `
export default function (pi) {
  let count = 0;
  pi.registerCommand("ask", { handler: (_args, ctx) => ctx.ui.select("Which?", ["a", "b"]) });
  pi.registerCommand("talk", { handler: () => pi.sendUserMessage("by itself", { deliverAs: "followUp" }) });
  pi.on("session_before_switch", async (_event, ctx) => {
    count += 1;
    if (count % 4 === 1) return { cancel: true };
    if (count % 4 === 2) return { cancel: !(await ctx.ui.confirm("Leave?", "", { timeout: 50 })) };
  });
  pi.on("tool_call", async (event, ctx) => {
    if (event.toolName !== "write") return;
    return (await ctx.ui.confirm("Write?", "", { timeout: 80 })) ? undefined : { block: true, reason: "no" };
  });
}`;

const said = (id: string) => ({ message: `say ${id}` });

/** The possible commands; those that change more are more frequent. */
const makers: readonly ((id: string, entryId: string) => Omit<SentCommand, "id">)[] = [
  ...["steer", "followUp", "followUp"].map((streamingBehavior) => (id: string) => ({
    type: "prompt",
    ...said(id),
    streamingBehavior,
  })),
  ...["prompt", "steer", "follow_up", "queue_message", "abort_and_prompt"].map(
    (type) => (id: string) => ({ type, ...said(id) }),
  ),
  ...["abort", "abort", "new_session", "clone", "compact", "abort_retry", "clear_queue"].map(
    (type) => () => ({ type }),
  ),
  ...["get_state", "get_messages", "get_fork_messages", "get_session_stats", "list_sessions"].map(
    (type) => () => ({ type }),
  ),
  (_id, entryId) => ({ type: "fork", entryId }),
  (_id, entryId) => ({ type: "navigate_tree", targetId: entryId, summarize: true }),
  () => ({ type: "switch_session", sessionPath: "nowhere.jsonl" }),
  () => ({ type: "bash", command: "sleep 0.2; echo hi" }),
  () => ({ type: "bash", command: "sleep 5" }),
  () => ({ type: "abort_bash" }),
  () => ({ type: "cycle_thinking_level" }),
  () => ({ type: "prompt", message: "/ask" }),
  () => ({ type: "prompt", message: "/talk" }),
  () => ({ type: "prompt", message: 5 }),
  () => ({ type: "no_such_command" }),
];

/** The next command to send; `entryId` is an entry from which a fork may start. */
export function randomCommand(below: (limit: number) => number, id: string, entryId: string) {
  const make = makers[below(makers.length)] ?? (() => ({ type: "get_state" }));
  return { id, ...make(id, entryId) } as SentCommand;
}
