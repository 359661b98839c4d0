import {
  clampThinkingLevel,
  type EarlierContext,
  repeatedRequests,
  type ToolDefinition,
} from "@tau-agent/ai";
import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import type {
  AgentMessage,
  AssistantMessage,
  LlmMessage,
  Model,
  ThinkingLevel,
} from "@tau-agent/rpc-protocol/messages";
import { isJsonObject, isThinkingLevel } from "@tau-agent/rpc-protocol/plain";
import { clearedResultsOf, SETUP_ENTRY, type SessionTree } from "@tau-agent/sessions/log";

/** The beginning of every request: instructions and tool declarations. */
export interface Setup {
  readonly system: string;
  readonly tools: readonly ToolDefinition[];
}

/** Converts messages to what the model read at a time, in ms since the epoch. */
export type MessagesAt = (messages: readonly AgentMessage[], time: number) => LlmMessage[];

/** The inputs of a request besides the messages. */
interface Circumstances {
  readonly setup: Setup | undefined;
  readonly level: ThinkingLevel;
  /** How many clearings of results came before. */
  readonly clearings: number;
}

interface Change {
  /** In ms since the epoch. */
  readonly time: number;
  readonly now: Circumstances;
}

interface PastRequest {
  readonly reply: AssistantMessage;
  /** The messages that it contained. */
  readonly read: readonly AgentMessage[];
  /** Whether it was made before a compaction. */
  readonly isSummarized: boolean;
  readonly now: Circumstances & { readonly setup: Setup };
}

/**
 * Reconstructs the requests of earlier processes from their log. Instructions, tools and levels apply across branches:
 * a move in the tree must not change the beginning of requests.
 */
export class PastRequests {
  /** In chronological order. */
  readonly #changes: readonly Change[];

  constructor({ parsed }: Pick<SessionTree, "parsed">) {
    let now: Circumstances = { setup: undefined, level: "off", clearings: 0 };
    this.#changes = parsed.flatMap((entry) => {
      const changed = changedBy(entry as KnownSessionEntry, now);
      if (changed === undefined) return [];
      now = { ...now, ...changed };
      return [{ time: Date.parse(entry.timestamp), now }];
    });
  }

  /** The beginning of the last request. */
  get setup(): Setup | undefined {
    return this.#changes.at(-1)?.now.setup;
  }

  /**
   * The earlier requests to a model that affect the next one: the first after a compaction, and each one that came
   * after a change. The change is appended again at the same position; otherwise it would be lost.
   */
  of(
    model: Model,
    messages: readonly AgentMessage[],
    toLlmMessages: MessagesAt,
  ): readonly EarlierContext[] {
    const { changes, thinking } = repeatedRequests(model);
    if (!changes && !thinking) return [];
    const clearings = this.#changes.at(-1)?.now.clearings;
    let last: Circumstances | undefined;
    return this.#requestsTo(model, messages).flatMap(({ reply, read, isSummarized, now }) => {
      // A new level applies from the user's next turn on.
      const isTurn = read.at(-1)?.role !== "toolResult";
      const level = isTurn || last === undefined ? now.level : last.level;
      const isChanged =
        last?.setup !== now.setup || last.level !== level || last.clearings !== now.clearings;
      const isVoid = isSummarized || now.clearings !== clearings;
      if (!(isVoid && thinking && hasThinking(reply)) && (isSummarized || !isChanged)) return [];
      if (!isSummarized) last = { ...now, level };
      const { system: systemPrompt, tools } = now.setup;
      const thinkingLevel = clampThinkingLevel(model, level);
      const context = { systemPrompt, tools, messages: toLlmMessages(read, reply.timestamp) };
      return [{ ...context, thinkingLevel, reply }];
    });
  }

  #requestsTo(model: Model, messages: readonly AgentMessage[]): PastRequest[] {
    const [first] = messages;
    const compactedAt = first?.role === "compactionSummary" ? first.timestamp : -Infinity;
    let next = 0;
    return messages.flatMap((reply, index) => {
      if (reply.role !== "assistant") return [];
      while ((this.#changes[next]?.time ?? Infinity) <= reply.timestamp) next++;
      const { setup, ...now } = this.#changes[next - 1]?.now ?? {};
      const isOther = reply.provider !== model.provider || reply.model !== model.id;
      if (isOther || setup === undefined) return [];
      const isSummarized = reply.timestamp < compactedAt;
      const read = messages.slice(isSummarized ? 1 : 0, index);
      return [{ reply, read, isSummarized, now: { ...(now as Circumstances), setup } }];
    });
  }
}

function changedBy(
  entry: KnownSessionEntry,
  { clearings }: Circumstances,
): Partial<Circumstances> | undefined {
  if (entry.type === "thinking_level_change") {
    return isThinkingLevel(entry.thinkingLevel) ? { level: entry.thinkingLevel } : undefined;
  }
  if (entry.type !== "custom") return undefined;
  if (entry.customType === SETUP_ENTRY) return setupOf(entry.data);
  // A result that was replaced by a line before its first request rewrites nothing.
  const isClearing = clearedResultsOf(entry).some(({ sameAs }) => sameAs === undefined);
  return isClearing ? { clearings: clearings + 1 } : undefined;
}

function setupOf(data: unknown): Pick<Circumstances, "setup"> | undefined {
  const { system, tools } = isJsonObject(data) ? data : {};
  if (typeof system !== "string" || !Array.isArray(tools)) return undefined;
  return tools.every(isDefinition) ? { setup: { system, tools } } : undefined;
}

function isDefinition(tool: unknown): tool is ToolDefinition {
  if (!isJsonObject(tool)) return false;
  const { name, description, parameters } = tool;
  return typeof name === "string" && typeof description === "string" && isJsonObject(parameters);
}

function hasThinking({ content }: AssistantMessage): boolean {
  return content.some((block) => block.type === "thinking" && Boolean(block.thinkingSignature));
}
