import { isDeepStrictEqual } from "node:util";
import type { AgentMessage, ToolCall, ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { SparseMap } from "@tau-agent/system";
import { LINE_TOKENS } from "./estimate.ts";
import { readRange } from "./read-range.ts";

/** Results larger than this become clearable with age. */
const LARGE_TOKENS = 2000;
/** A newly read part of a file is compared with at most this many earlier parts. */
const MAX_COMPARED_PARTS = 64;

const searches: ReadonlySet<string> = new Set(["grep", "find", "ls"]);
const changes: ReadonlySet<string> = new Set(["edit", "write"]);

interface ClearableOptions {
  /** Resolves a path in a call to a file. */
  readonly resolvePath: (written: string) => string;
  /** Estimates the tokens of a message. */
  readonly sizeOf: (message: AgentMessage) => number;
}

export type ShownAs = "whole" | "cleared" | "unchanged";

/** A result that the model sees in full. */
interface SeenResult {
  readonly message: ToolResultMessage;
  readonly tokens: number;
  readonly at: number;
  /** The position of the latest call with this result. */
  usedAt: number;
  readonly call: { readonly key: string; readonly file?: SeenFile } | undefined;
}

interface SeenFile {
  readonly path: string;
  readonly firstLine: number;
  /** The first line after the shown part. */
  readonly endLine: number;
}

/**
 * Determines which tool results the model no longer needs. It grows with the conversation, and the cost of each message
 * does not depend on the conversation's length. Pure.
 */
export class ClearableResults {
  readonly #options: ClearableOptions;
  readonly #calls = new SparseMap<string, ToolCall>();
  /** The newest full result for each call. */
  readonly #newest = new SparseMap<string, SeenResult>();
  /** For each file, the results whose content is still current. */
  readonly #files = new SparseMap<string, Set<SeenResult>>();
  /** Large results by last use; the first {@link #judged} have been judged. */
  readonly #large: { readonly result: SeenResult; readonly usedAt: number }[] = [];
  #judged = 0;
  readonly #clearable = new SparseMap<ToolResultMessage, SeenResult>();
  /** Undefined for a result that a line replaces. */
  readonly #messages: (AgentMessage | undefined)[] = [];
  /** The running total of tokens up to each message, computed on demand. */
  readonly #sizes: number[] = [];
  #lastUserAt = -1;
  #tokens = 0;

  constructor(options: ClearableOptions) {
    this.#options = options;
  }

  /** The number of messages added. */
  get length(): number {
    return this.#messages.length;
  }

  /** The index of the last user message; -1 if there is none. */
  get lastUserAt(): number {
    return this.#lastUserAt;
  }

  /** How many tokens clearing everything possible would save. */
  get tokens(): number {
    return this.#tokens;
  }

  /** How many tokens after the first clearable result would have to be sent again if everything was cleared. */
  get rewritten(): number {
    let first = Infinity;
    for (const { at } of this.#clearable.values()) first = Math.min(first, at);
    const [all, before] = [this.#sizeUpTo(this.length), this.#sizeUpTo(first)];
    return Math.max(0, all - before - this.#tokens);
  }

  /** The clearable results before a message, oldest first, with their tokens. */
  before(end: number): ReadonlyMap<ToolResultMessage, number> {
    const found = [...this.#clearable.values()].filter(({ at }) => at < end);
    found.sort((left, right) => left.at - right.at);
    return new Map(found.map(({ message, tokens }) => [message, tokens]));
  }

  /** Adds the next message of the conversation. */
  add(message: AgentMessage, shownAs: ShownAs = "whole"): void {
    const at = this.length;
    this.#messages.push(shownAs === "whole" ? message : undefined);
    if (message.role === "user") {
      this.#judgeLarge(this.#lastUserAt);
      this.#lastUserAt = at;
    } else if (message.role === "assistant") {
      for (const block of message.content) {
        if (block.type === "toolCall") this.#calls.set(block.id, block);
      }
    } else if (message.role === "toolResult") {
      this.#addResult({ message, tokens: this.#sizeOf(at), at }, shownAs);
    }
  }

  /** The earlier result that the model sees for the same call, if it equals the next message. */
  sameAs(next: ToolResultMessage): ToolResultMessage | undefined {
    const call = this.#calls.get(next.toolCallId);
    const earlier = call && this.#newest.get(keyOf(call))?.message;
    if (earlier === undefined || earlier.isError !== next.isError) return undefined;
    return isDeepStrictEqual(earlier.content, next.content) ? earlier : undefined;
  }

  #sizeOf(at: number): number {
    const message = this.#messages[at];
    return message === undefined ? LINE_TOKENS : this.#options.sizeOf(message);
  }

  /** Computed on demand: most sessions never need the sizes. */
  #sizeUpTo(end: number): number {
    const sizes = this.#sizes;
    while (sizes.length < end && sizes.length < this.length) {
      sizes.push((sizes.at(-1) ?? 0) + this.#sizeOf(sizes.length));
    }
    return sizes[Math.min(end, this.length) - 1] ?? 0;
  }

  #addResult(added: Pick<SeenResult, "message" | "tokens" | "at">, shownAs: ShownAs): void {
    const { message, at } = added;
    const call = this.#calls.get(message.toolCallId);
    this.#calls.delete(message.toolCallId);
    if (shownAs === "cleared") return;
    const key = call && keyOf(call);
    const earlier = key === undefined ? undefined : this.#newest.get(key);
    if (shownAs === "unchanged") {
      if (earlier !== undefined) this.#useAgain(earlier, at);
      return;
    }
    const file = call && !message.isError ? this.#fileOf(call, message) : undefined;
    const result: SeenResult = {
      ...added,
      usedAt: at,
      call: key === undefined ? undefined : { key, ...(file && { file }) },
    };
    if (key !== undefined) this.#newest.set(key, result);
    if (call !== undefined && !message.isError) this.#outdate(call, earlier);
    if (file !== undefined) this.#addFile(result, file);
    this.#noteLarge(result);
  }

  /** A change makes earlier reads of the file clearable; a search, its own earlier result. */
  #outdate(call: ToolCall, earlier: SeenResult | undefined): void {
    if (searches.has(call.name) && earlier !== undefined) this.#allow(earlier);
    const { path } = call.arguments;
    if (!changes.has(call.name) || typeof path !== "string") return;
    const file = this.#options.resolvePath(path);
    for (const read of this.#files.get(file) ?? []) this.#allow(read);
    this.#files.delete(file);
  }

  #fileOf({ name, arguments: args }: ToolCall, result: ToolResultMessage): SeenFile | undefined {
    if (name !== "read" || typeof args.path !== "string") return undefined;
    return { path: this.#options.resolvePath(args.path), ...readRange(args, result.details) };
  }

  #addFile(result: SeenResult, file: SeenFile): void {
    const seen = this.#files.get(file.path) ?? new Set();
    const isWhole = file.firstLine === 1 && file.endLine === Infinity;
    const compared = isWhole ? [...seen] : [...seen].slice(-MAX_COMPARED_PARTS);
    for (const earlier of compared) {
      const shown = earlier.call?.file;
      if (earlier === result || shown === undefined || shown.firstLine < file.firstLine) continue;
      if (shown.endLine > file.endLine) continue;
      seen.delete(earlier);
      this.#allow(earlier);
    }
    seen.add(result);
    this.#files.set(file.path, seen);
  }

  /** Marks a result as recent, because the same call had the same result again. */
  #useAgain(result: SeenResult, at: number): void {
    result.usedAt = at;
    if (this.#clearable.delete(result.message)) this.#tokens -= result.tokens - LINE_TOKENS;
    const file = result.call?.file;
    if (file !== undefined) this.#addFile(result, file);
    this.#noteLarge(result);
  }

  #noteLarge(result: SeenResult): void {
    if (result.tokens > LARGE_TOKENS) this.#large.push({ result, usedAt: result.usedAt });
  }

  /** Makes large results clearable whose last use was before a message. */
  #judgeLarge(end: number): void {
    for (; this.#judged < this.#large.length; this.#judged++) {
      const { result, usedAt } = this.#large[this.#judged] ?? {};
      if (result === undefined || usedAt === undefined || usedAt >= end) return;
      if (result.usedAt === usedAt) this.#allow(result);
    }
  }

  #allow(result: SeenResult): void {
    if (result.tokens <= LINE_TOKENS || this.#clearable.has(result.message)) return;
    this.#clearable.set(result.message, result);
    this.#tokens += result.tokens - LINE_TOKENS;
  }
}

/** The identity of a call; models write the arguments of the same call in the same order. */
function keyOf({ name, arguments: args }: ToolCall): string {
  const text = `${name} ${JSON.stringify(args)}`;
  if (text.length <= 200) return text;
  // Loaded with the first long call (row `start`).
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(text).digest("hex");
}
