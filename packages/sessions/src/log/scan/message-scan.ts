import {
  bytesOf,
  isAt,
  openBrace,
  quote,
  skipBoolean,
  skipObject,
  skipString,
  skipValue,
  skipWord,
  unsure,
} from "./json-bytes.ts";
import { listOf, MemberScan, type Skip } from "./member-scan.ts";
import { ASSISTANT, FAILED } from "./scanned-role.ts";
import { skipFinite, UsageScan } from "./usage-scan.ts";

const roles = [bytesOf('"user"'), bytesOf('"assistant"'), bytesOf('"toolResult"')];
const USER = 0;
const stopReasons = ["stop", "length", "toolUse", "error", "aborted"].map((reason) =>
  bytesOf(`"${reason}"`),
);
const FIRST_FAILURE = 3;
/**
 * The beginnings of the names of tools whose results are needed later: for the consumption of
 * subagents, and for the todo list. They are few, so they stay in memory.
 */
const kept = [bytesOf('"task"'), bytesOf('"todo')];

/** The type of a content block; each is a bit. */
const blockTypes = { text: 1, image: 2, thinking: 4, toolCall: 8 } as const;
const blockWords = Object.keys(blockTypes).map((name) => bytesOf(`"${name}"`));
const ofPeople = blockTypes.text | blockTypes.image;
const ofModels = blockTypes.text | blockTypes.thinking | blockTypes.toolCall;

/**
 * Skips a message that is exactly as the protocol defines it, so that `normalizeMessage` would return
 * it unchanged; returns `unsure` for any other message.
 */
export class MessageScan {
  /** An index into `scannedRoles`. */
  role = USER;
  /** The number of calls in the content of a reply. */
  toolCalls = 0;
  readonly #usage = new UsageScan();
  #role = USER;
  #stopReason = 0;
  /** The kinds of blocks in the content; 0 for a string or an empty list. */
  #blocks = 0;
  #isText = false;
  #block = 0;

  readonly #blockMembers = new MemberScan({
    type: (bytes, at) => this.#skipBlockType(bytes, at),
    text: skipString,
    textSignature: skipString,
    data: skipString,
    mimeType: skipString,
    thinking: skipString,
    thinkingSignature: skipString,
    redacted: skipBoolean,
    id: skipString,
    name: skipString,
    arguments: skipObject,
    thoughtSignature: skipString,
    argumentsError: skipString,
  });
  readonly #needs = [
    this.#blockMembers.bits("type", "text"),
    this.#blockMembers.bits("type", "data", "mimeType"),
    this.#blockMembers.bits("type", "thinking"),
    this.#blockMembers.bits("type", "id", "name", "arguments"),
  ];
  readonly #skipBlocks = listOf((bytes, at) => this.#skipBlock(bytes, at));
  readonly #details = new MemberScan({ interrupted: () => unsure });
  readonly #members = new MemberScan({
    role: (bytes, at) => this.#skipRole(bytes, at),
    content: (bytes, at) => this.#skipContent(bytes, at),
    timestamp: skipFinite,
    api: skipString,
    provider: skipString,
    model: skipString,
    usage: this.#usage.skip,
    stopReason: (bytes, at) => this.#skipStopReason(bytes, at),
    errorMessage: skipString,
    responseModel: skipString,
    responseId: skipString,
    rawStopReason: skipString,
    toolCallId: skipString,
    toolName: (bytes, at) =>
      kept.some((name) => isAt(bytes, at, name)) ? unsure : skipString(bytes, at),
    isError: skipBoolean,
    details: (bytes, at) => this.#skipDetails(bytes, at),
    attachments: () => unsure,
  });
  readonly #ofUser = this.#members.bits("role", "content", "timestamp");
  readonly #ofReply =
    this.#ofUser | this.#members.bits("api", "provider", "model", "usage", "stopReason");
  readonly #ofResult = this.#ofUser | this.#members.bits("toolCallId", "toolName", "isError");
  readonly #usageBit = this.#members.bits("usage");

  get usage(): Float64Array {
    return this.#usage.numbers;
  }

  readonly skip: Skip = (bytes, at) => {
    this.toolCalls = 0;
    this.#blocks = 0;
    this.#isText = false;
    const end = this.#members.skip(bytes, at);
    return end !== unsure && this.#isWhole(this.#members.seen) ? end : unsure;
  };

  #isWhole(seen: number): boolean {
    const has = (bits: number) => (seen & bits) === bits;
    this.role = this.#role;
    if (this.#role === ASSISTANT) {
      if (this.#stopReason >= FIRST_FAILURE) this.role = FAILED;
      return has(this.#ofReply) && !this.#isText && (this.#blocks & ~ofModels) === 0;
    }
    if ((this.#blocks & ~ofPeople) !== 0 || (seen & this.#usageBit) !== 0) return false;
    return this.#role === USER ? has(this.#ofUser) : has(this.#ofResult) && !this.#isText;
  }

  #skipRole(bytes: Uint8Array, at: number): number {
    this.#role = indexAt(bytes, at, roles);
    return this.#role === -1 ? unsure : skipWord(bytes, at);
  }

  #skipStopReason(bytes: Uint8Array, at: number): number {
    this.#stopReason = indexAt(bytes, at, stopReasons);
    return this.#stopReason === -1 ? unsure : skipWord(bytes, at);
  }

  #skipContent(bytes: Uint8Array, at: number): number {
    this.#isText = bytes[at] === quote;
    return this.#isText ? skipString(bytes, at) : this.#skipBlocks(bytes, at);
  }

  #skipBlock(bytes: Uint8Array, at: number): number {
    const end = this.#blockMembers.skip(bytes, at);
    if (end === unsure) return unsure;
    const { seen } = this.#blockMembers;
    const needs = this.#needs[this.#block] ?? 0;
    if ((seen & needs) !== needs) return unsure;
    this.#blocks |= 1 << this.#block;
    if (this.#block === 3) this.toolCalls += 1;
    return end;
  }

  #skipBlockType(bytes: Uint8Array, at: number): number {
    this.#block = indexAt(bytes, at, blockWords);
    return this.#block === -1 ? unsure : skipWord(bytes, at);
  }

  /** Results that a later host added to interrupted calls do not count as time of a run. */
  #skipDetails(bytes: Uint8Array, at: number): number {
    return bytes[at] === openBrace ? this.#details.skip(bytes, at) : skipValue(bytes, at);
  }
}

/** The index of the word found at an index; -1 if there is none. */
function indexAt(bytes: Uint8Array, at: number, words: readonly Uint8Array[]): number {
  for (let index = 0; index < words.length; index++) {
    if (isAt(bytes, at, words[index] as Uint8Array)) return index;
  }
  return -1;
}
