import type { ClientCapabilities, SessionUpdate } from "@agentclientprotocol/sdk";
import type { AgentMessage, SessionEntry } from "@tau-agent/coding-agent";
import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import type {
  AssistantMessage,
  BashExecutionMessage,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from "@tau-agent/rpc-protocol/messages";
import { contentBlocks, ofMessage } from "./content.ts";
import { said } from "./event-updates.ts";
import { argumentDiffs } from "./file-diff.ts";
import type { ToolCalls } from "./tool-calls.ts";

/** What a replay needs. */
export interface ReplayOptions {
  /** Remembers the ids of calls, so that later calls get new ones. */
  readonly calls: ToolCalls;
  readonly cwd: string;
  readonly client: ClientCapabilities | undefined;
}

/**
 * A conversation as the client would have seen it: prompts, thoughts, replies, and calls with their results. A call
 * without a result counts as failed.
 */
export function* replay(
  entries: readonly SessionEntry[],
  options: ReplayOptions,
): Generator<SessionUpdate> {
  const results = resultsOf(entries);
  options.calls.startOver();
  for (const entry of entries as readonly KnownSessionEntry[]) {
    if (entry.type === "custom_message" && entry.display) {
      yield* ofMessage(entry.id, chunks("agent_message_chunk", entry.content));
    }
    if (entry.type === "compaction" && options.client?.session?.compaction) {
      const summary = contentBlocks(entry.summary);
      const compactionId = `compaction-${entry.id}`;
      yield { sessionUpdate: "compaction_update", compactionId, status: "completed", summary };
    }
    if (entry.type === "message") {
      yield* ofMessage(entry.id, replayed(entry.message, results, options));
    }
  }
}

/** Results by call id, the latest first: an id may be reused. */
type Results = Map<string, ToolResultMessage[]>;

function resultsOf(entries: readonly SessionEntry[]): Results {
  const results: Results = new Map();
  for (const entry of entries.toReversed() as readonly KnownSessionEntry[]) {
    if (entry.type !== "message" || entry.message.role !== "toolResult") continue;
    const { toolCallId } = entry.message;
    const known = results.get(toolCallId);
    if (known === undefined) results.set(toolCallId, [entry.message]);
    else known.push(entry.message);
  }
  return results;
}

function* replayed(
  message: AgentMessage,
  results: Results,
  options: ReplayOptions,
): Generator<SessionUpdate> {
  switch (message.role) {
    case "user":
      yield* userMessage(message);
      break;
    case "custom":
      if (message.display) yield* chunks("agent_message_chunk", message.content);
      break;
    case "assistant":
      yield* reply(message, results, options);
      break;
    case "bashExecution":
      yield* command(message, options);
      break;
    default:
  }
}

/** The content of a user message; nothing for other messages. */
export function* userMessage(message: AgentMessage): Generator<SessionUpdate> {
  if (message.role === "user") yield* chunks("user_message_chunk", message.content);
}

function* reply(
  message: AssistantMessage,
  results: Results,
  options: ReplayOptions,
): Generator<SessionUpdate> {
  // The log keeps a failed attempt, and another reply follows it.
  if (message.stopReason === "error") return;
  for (const block of message.content) {
    if (block.type === "text") yield* said("agent_message_chunk", block.text);
    else if (block.type === "thinking") yield* said("agent_thought_chunk", block.thinking);
    else yield* call(block, results.get(block.id)?.pop(), options);
  }
}

function* call(
  { id, name, arguments: args }: ToolCall,
  result: ToolResultMessage | undefined,
  { calls, cwd }: ReplayOptions,
): Generator<SessionUpdate> {
  // The client already knows a call that is running now.
  if (calls.idOf(id) !== undefined) return;
  yield* calls.announce({ id, name, args });
  if (result === undefined) {
    yield* calls.failOne(id);
    return;
  }
  const diffs = result.isError ? [] : argumentDiffs(name, args, cwd);
  const { content, details, isError } = result;
  const [update] = calls.end(id, name, { content, details, isError });
  if (update === undefined) return;
  yield diffs.length === 0 ? update : ({ ...update, content: diffs } as SessionUpdate);
}

/** A shell command that the user ran. */
function* command(
  { command: line, output, exitCode, cancelled }: BashExecutionMessage,
  { calls }: ReplayOptions,
): Generator<SessionUpdate> {
  const id = "command";
  yield* calls.announce({ id, name: "bash", args: { command: line } });
  const isError = cancelled || (exitCode ?? 0) !== 0;
  yield* calls.end(id, "bash", { content: [{ type: "text", text: output }], isError });
}

function* chunks(
  sessionUpdate: "user_message_chunk" | "agent_message_chunk",
  content: UserMessage["content"],
): Generator<SessionUpdate> {
  for (const block of contentBlocks(content)) yield { sessionUpdate, content: block };
}
