import type { SessionEntry } from "@tau-agent/rpc-protocol";
import type {
  AssistantContent,
  AssistantMessage,
  LlmMessage,
  ToolResultMessage,
  Usage,
  UserContent,
} from "@tau-agent/rpc-protocol/messages";

/** The result of an import: counts for people, and the parts that a session cannot represent. */
export interface ImportReport {
  messages: number;
  calls: number;
  results: number;
  /** How often each kind of thing was left out. */
  readonly leftOut: Map<string, number>;
  /** What the transcript says about its origin. */
  readonly origin: Partial<Record<"sessionId" | "version" | "cwd", string | undefined>>;
}

/** The position of something in a transcript. */
export interface Place {
  /** Its id there. */
  readonly ref?: string | undefined;
  /** The id of its predecessor; undefined: whatever came before it, null: none. */
  readonly parent?: string | null | undefined;
  readonly timeMs?: number | undefined;
}

type Reply = Pick<AssistantMessage, "api" | "provider" | "model">;
type End = Pick<AssistantMessage, "stopReason"> & { readonly errorMessage?: string | undefined };

/** A reply that may still grow, with the results of its calls. */
interface PendingReply extends Reply {
  readonly key: string | undefined;
  readonly parentId: string | null;
  readonly timeMs: number;
  readonly content: AssistantContent[];
  /** The names of its calls, by call id. */
  readonly calls: Map<string, string>;
  readonly results: Map<string, ToolResultMessage>;
  readonly refs: Set<string>;
  usage: Usage | undefined;
  end: End | undefined;
}

const noCost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: noCost };
/** Every vendor refuses longer names in its history. */
const MAX_NAME = 64;
/** In a hostile transcript, every line may be of another kind. */
const MAX_KINDS = 40;

/**
 * Makes session entries from a transcript, in an order that every vendor accepts: each reply is followed by one result
 * for each of its calls. Late and duplicate results are left out.
 */
export class SessionDraft {
  readonly report: ImportReport = {
    messages: 0,
    calls: 0,
    results: 0,
    leftOut: new Map(),
    origin: {},
  };
  readonly #entries: SessionEntry[] = [];
  readonly #entryOf = new Map<string, string | null>();
  #count = 0;
  #lastId: string | null = null;
  #timeMs: number;
  #pending: PendingReply | undefined;

  /** @param timeMs - the time of entries before the first time in the transcript */
  constructor(timeMs: number) {
    this.#timeMs = timeMs;
  }

  /** Takes the entries added since the last call. */
  take(): SessionEntry[] {
    return this.#entries.splice(0);
  }

  leaveOut(kind: string, count = 1): void {
    const { leftOut } = this.report;
    const named = leftOut.has(kind) || leftOut.size < MAX_KINDS ? kind : "other things";
    leftOut.set(named, (leftOut.get(named) ?? 0) + count);
  }

  /** Skips an item without an entry: its successors follow its predecessor instead. */
  skip({ ref, parent }: Place): void {
    if (ref === undefined) return;
    if (parent != null && this.#pending?.refs.has(parent)) this.#pending.refs.add(ref);
    else this.#entryOf.set(ref, this.#parentOf(parent));
  }

  user(content: readonly UserContent[], place: Place): void {
    const timeMs = this.#timeOf(place);
    this.#flush();
    this.report.messages += 1;
    this.#addMessage({ role: "user", content: [...content], timestamp: timeMs }, place);
  }

  /** A message that the other agent gave its model in addition to the user's words. */
  note(customType: string, content: readonly UserContent[], place: Place): void {
    this.#flush();
    const display = false;
    this.#add({ type: "custom_message", customType, content: [...content], display }, place);
  }

  summary(summary: string, tokensBefore: number, place: Place): void {
    this.#flush();
    // No earlier message is kept verbatim.
    this.#add({ type: "compaction", summary, tokensBefore, firstKeptEntryId: "" }, place);
  }

  name(name: string, place: Place): void {
    this.#flush();
    this.#add({ type: "session_info", name }, place);
  }

  custom(customType: string, data: unknown, place: Place): void {
    this.#flush();
    this.#add({ type: "custom", customType, data }, place);
  }

  /**
   * Adds to the current reply, or begins a new one if the key differs.
   *
   * @param key - the vendor's id of the reply; undefined if the transcript has none
   */
  reply(
    content: readonly AssistantContent[],
    place: Place,
    { key, ...reply }: Reply & { readonly key?: string | undefined },
  ): void {
    const timeMs = this.#timeOf(place);
    const isSame = this.#pending !== undefined && this.#pending.key === key;
    // Without an id, a reply ends with its usage or first result.
    const isOver = this.#pending?.usage !== undefined || (this.#pending?.results.size ?? 0) > 0;
    if (!isSame || (key === undefined && isOver)) {
      this.#flush();
      const parentId = this.#parentOf(place.parent);
      const found = { content: [], calls: new Map(), results: new Map(), refs: new Set<string>() };
      const started = { key, parentId, timeMs, usage: undefined, end: undefined };
      this.#pending = { ...reply, ...started, ...found };
      this.report.messages += 1;
    }
    const pending = this.#pending as PendingReply;
    if (place.ref !== undefined) pending.refs.add(place.ref);
    for (const block of content) this.#addBlock(pending, block);
  }

  /** Sets the usage and end of the current reply; a repeated report may contain higher numbers. */
  endReply(usage: Omit<Usage, "cost"> | undefined, end?: End): void {
    if (this.#pending === undefined) return;
    if (usage !== undefined) this.#pending.usage = { ...usage, cost: noCost };
    this.#pending.end = end ?? this.#pending.end;
  }

  /** Whether the usage of the current reply is known. */
  get isReplyCounted(): boolean {
    return this.#pending === undefined || this.#pending.usage !== undefined;
  }

  result(
    toolCallId: string,
    content: readonly UserContent[],
    { isError, ...place }: Place & { readonly isError: boolean },
  ): void {
    const timestamp = this.#timeOf(place);
    const pending = this.#pending;
    const toolName = pending?.calls.get(toolCallId);
    if (pending === undefined || toolName === undefined || pending.results.has(toolCallId)) {
      this.leaveOut("results without their call");
      this.skip(place);
      return;
    }
    if (place.ref !== undefined) pending.refs.add(place.ref);
    this.report.results += 1;
    pending.results.set(toolCallId, {
      role: "toolResult",
      toolCallId,
      toolName,
      content: [...content],
      isError,
      timestamp,
    });
  }

  finish(): void {
    this.#flush();
  }

  #addBlock({ content, calls }: PendingReply, block: AssistantContent): void {
    if (block.type !== "toolCall") {
      content.push(block);
      return;
    }
    if (calls.has(block.id)) {
      this.leaveOut("calls with the id of another");
      return;
    }
    this.report.calls += 1;
    const name = block.name.replace(/[^\w-]/g, "_").slice(0, MAX_NAME) || "tool";
    calls.set(block.id, name);
    content.push({ ...block, name });
  }

  #flush(): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    this.#pending = undefined;
    const { api, provider, model, content, calls, results, parentId, refs, timeMs, end } = pending;
    const usual = calls.size > 0 ? "toolUse" : "stop";
    const { stopReason = usual, errorMessage } = end ?? {};
    const usage = pending.usage ?? noUsage;
    this.#lastId = parentId;
    this.#addMessage({
      role: "assistant",
      content,
      api,
      provider,
      model,
      usage,
      stopReason,
      ...(errorMessage !== undefined && { errorMessage }),
      timestamp: timeMs,
    });
    for (const [id, name] of calls) this.#addMessage(results.get(id) ?? missing(id, name, timeMs));
    for (const ref of refs) this.#entryOf.set(ref, this.#lastId);
  }

  #addMessage(message: LlmMessage, place?: Place): void {
    this.#add({ type: "message", message }, { timeMs: message.timestamp, ...place });
  }

  #add(entry: { readonly type: string; [member: string]: unknown }, place: Place): void {
    const id = (this.#count++).toString(16).padStart(8, "0");
    const timestamp = new Date(this.#timeOf(place)).toISOString();
    const { type, ...rest } = entry;
    this.#entries.push({ type, id, parentId: this.#parentOf(place.parent), timestamp, ...rest });
    this.#lastId = id;
    if (place.ref !== undefined) this.#entryOf.set(place.ref, id);
  }

  #parentOf(parent: Place["parent"]): string | null {
    if (parent === null) return null;
    const known = parent === undefined ? undefined : this.#entryOf.get(parent);
    return known === undefined ? this.#lastId : known;
  }

  /** The time of an item; without one, that of the item before. */
  #timeOf({ timeMs }: Place): number {
    if (timeMs !== undefined && timeMs > 0 && timeMs < MAX_TIME_MS) this.#timeMs = timeMs;
    return this.#timeMs;
  }
}

/** The year 10 000, from which on ISO times have another format. */
const MAX_TIME_MS = 253_402_300_800_000;

function missing(toolCallId: string, toolName: string, timestamp: number): ToolResultMessage {
  const text = "The transcript has no result of this call.";
  const content: UserContent[] = [{ type: "text", text }];
  return { role: "toolResult", toolCallId, toolName, content, isError: true, timestamp };
}
