import type { AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import { chain, type Digest, digestOf, keyOf } from "../request/digest.ts";
import type { Features } from "./features.ts";
import { canAppend, changeMessage, effortMessage, type Setup } from "./setup.ts";
import type { ControlMessage, TurnParam, WireMessage } from "./wire-types.ts";

/** Beyond these the oldest are forgotten, and their thinking is left to the vendor's own check. */
const mostConversations = 256;
const mostSignatures = 20_000;

/** What one request wants to say. */
export interface Wanted {
  /** Names the conversation, together with its first message; without it, nothing is appended. */
  readonly key: string | undefined;
  readonly features: Features;
  readonly setup: Setup;
  /** Messages in the vendor's shape, the last of them a user's. */
  readonly turns: readonly TurnParam[];
  /** The last turn is of this request only. */
  readonly isContinued: boolean;
}

/** What is sent instead. */
export interface Arranged {
  readonly setup: Setup;
  readonly messages: WireMessage[];
  /** Of all that the reply is made under. */
  readonly prefix: string;
}

/** A change that was sent, and has to be sent again at the same place. */
interface Insertion {
  /** How many turns come before it. */
  readonly at: number;
  /** Digest of those turns. */
  readonly after: string;
  readonly message: ControlMessage;
  /** What holds from here on. */
  readonly setup: Setup;
}

interface Conversation {
  readonly first: Setup;
  /** By their places. */
  readonly insertions: readonly Insertion[];
}

/**
 * Keeps what a conversation has sent as it was. A model binds its thinking to everything before it and
 * refuses it under anything else; prompt caches miss likewise. So instructions, tools and effort stay
 * as first sent and changes are appended, where the model reads them there. Thinking that is known to
 * have been made under another prefix (before a compaction, with other tools, with images that are
 * left out by now) is not sent.
 */
export class Prefixes {
  readonly #conversations = new Map<string, Conversation>();
  /** Digest of a signature → the prefix under which it was made. */
  readonly #signatures = new Map<string, string>();
  readonly #digests = new WeakMap<object, Digest>();
  /** The digests of a turn's signatures; a conversation repeats its turns with each request. */
  readonly #signed = new WeakMap<TurnParam, readonly string[]>();
  readonly #stripped = new WeakMap<TurnParam, TurnParam>();

  arrange(wanted: Wanted): Arranged {
    const { setup, turns, features } = wanted;
    const isPlain = !features.bindsThinking && !Object.values(features.appends).includes(true);
    if (isPlain) return { setup, messages: [...turns], prefix: "" };
    const places = this.#places(wanted.turns);
    const [start = ""] = places.slice(1);
    const id = wanted.key === undefined ? undefined : `${wanted.key}\n${start}`;
    const earlier = id === undefined ? undefined : this.#conversations.get(id);
    const { sent, kept } = continueWith(earlier, wanted, places);
    if (id !== undefined) {
      this.#conversations.delete(id);
      this.#conversations.set(id, kept);
      forgetOldest(this.#conversations, mostConversations);
    }
    return { setup: sent.first, ...this.#assemble(sent, wanted) };
  }

  /** Keeps under which prefix the thinking of a reply was made. */
  remember(prefix: string, { content }: AssistantMessage): void {
    for (const block of content) {
      if (block.type !== "thinking" || !block.thinkingSignature) continue;
      this.#signatures.set(keyOf(digestOf(block.thinkingSignature)), prefix);
    }
    forgetOldest(this.#signatures, mostSignatures);
  }

  /** The digests of all beginnings of the list, the empty one first. */
  #places(turns: readonly TurnParam[]): string[] {
    let digest = nothing;
    const places = [keyOf(digest)];
    for (const turn of turns) {
      digest = chain(digest, this.#digest(turn));
      places.push(keyOf(digest));
    }
    return places;
  }

  #assemble(
    { first, insertions }: Conversation,
    { turns, features }: Wanted,
  ): Pick<Arranged, "messages" | "prefix"> {
    const messages: WireMessage[] = [];
    let digest = this.#digest([first.system, first.tools]);
    const add = (message: WireMessage): void => {
      messages.push(message);
      digest = chain(digest, this.#digest(message));
    };
    let next = 0;
    const addInsertions = (at: number): void => {
      for (let found = insertions[next]; found?.at === at; found = insertions[next]) {
        add(found.message);
        next++;
      }
    };
    for (const [index, turn] of turns.entries()) {
      addInsertions(index);
      const isVoid = features.bindsThinking && this.#isMadeUnderAnother(turn, keyOf(digest));
      const fitting = isVoid ? this.#withoutThinking(turn) : turn;
      if (fitting.content.length > 0) add(fitting);
    }
    addInsertions(turns.length);
    return { messages, prefix: keyOf(digest) };
  }

  /** Only what is known counts: thinking of an earlier process may well be valid. */
  #isMadeUnderAnother(turn: TurnParam, prefix: string): boolean {
    let signed = this.#signed.get(turn);
    if (signed === undefined) {
      signed = signaturesOf(turn).map((signature) => keyOf(digestOf(signature)));
      this.#signed.set(turn, signed);
    }
    return signed.some((key) => (this.#signatures.get(key) ?? prefix) !== prefix);
  }

  #withoutThinking(turn: TurnParam): TurnParam {
    const known = this.#stripped.get(turn);
    if (known !== undefined) return known;
    const { content } = turn;
    const stripped: TurnParam =
      typeof content === "string" || turn.role !== "assistant"
        ? turn
        : { role: "assistant", content: content.filter((block) => !isThinking(block)) };
    this.#stripped.set(turn, stripped);
    return stripped;
  }

  #digest(value: object): Digest {
    const known = this.#digests.get(value);
    if (known !== undefined) return known;
    const digest = digestOf(JSON.stringify(value));
    this.#digests.set(value, digest);
    return digest;
  }
}

const nothing: Digest = digestOf("");

function signaturesOf({ role, content }: TurnParam): string[] {
  if (role !== "assistant" || typeof content === "string") return [];
  return content.flatMap((block) => {
    if (block.type === "thinking") return block.signature ? [block.signature] : [];
    return block.type === "redacted_thinking" ? [block.data] : [];
  });
}

function isThinking({ type }: { type: string }): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

/**
 * What this request sends, and what later ones repeat of it. A change that no reply has followed yet
 * is made anew, because the turn before it may still grow.
 */
function continueWith(
  earlier: Conversation | undefined,
  { features, setup, turns, isContinued }: Wanted,
  places: readonly string[],
): { sent: Conversation; kept: Conversation } {
  const last = turns.length - 1;
  const anew: Conversation = { first: setup, insertions: [] };
  if (earlier === undefined || last < 1) return { sent: anew, kept: anew };
  const answered = earlier.insertions.filter(
    ({ at, after, message }) =>
      places[at] === after && at < (message.output_config ? last : turns.length),
  );
  const from = answered.at(-1)?.setup ?? earlier.first;
  if (!canAppend(from, setup, features)) return { sent: anew, kept: anew };
  const first = features.appends.effort
    ? earlier.first
    : { ...earlier.first, effort: setup.effort };
  const insertions = [...answered];
  let { effort } = from;
  const isLate = features.appends.effort && setup.effort !== effort;
  if (isLate && setup.effort !== undefined && !isContinued && startsTurn(turns[last])) {
    effort = setup.effort;
    const message = effortMessage(effort);
    insertions.push({ at: last, after: places[last] ?? "", message, setup: { ...from, effort } });
  }
  const change = changeMessage(earlier.first, from, setup);
  if (change === undefined) {
    const all = { first, insertions };
    return { sent: all, kept: all };
  }
  const at = turns.length;
  const appended = { at, after: places[at] ?? "", message: change, setup: { ...setup, effort } };
  const all = { first, insertions: [...insertions, appended] };
  return { sent: all, kept: isContinued ? { first, insertions } : all };
}

/** A new effort holds from the next turn of the user's on; results of tools belong to the one before. */
function startsTurn(turn: TurnParam | undefined): boolean {
  if (turn === undefined || typeof turn.content === "string") return true;
  return turn.content.every(({ type }) => type !== "tool_result");
}

/** Maps keep the order in which their members were set. */
function forgetOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}
