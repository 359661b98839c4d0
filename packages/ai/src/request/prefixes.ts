import type { AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import { chain, type Digest, digestOf, keyOf } from "./digest.ts";
import { canAppend, type Features, type PrefixWire, type Setup, type WireShapes } from "./setup.ts";

/** Beyond this number, the oldest conversations are forgotten, and only the vendor checks their thinking. */
const mostConversations = 256;
const mostSignatures = 20_000;

/** The contents of a request before they are arranged. */
export interface Wanted<Shapes extends WireShapes> {
  /** Identifies the conversation, together with its first message; without a key, nothing is appended. */
  readonly key: string | undefined;
  readonly features: Features;
  readonly setup: Setup<Shapes>;
  /** Messages in the vendor's format, without instructions. */
  readonly turns: readonly Shapes["turn"][];
  /** Whether the last turn belongs only to this request. */
  readonly isContinued: boolean;
}

/** The contents as they are sent. */
export interface Arranged<Shapes extends WireShapes> {
  readonly setup: Setup<Shapes>;
  readonly messages: (Shapes["turn"] | Shapes["change"])[];
  /** The digest of everything on which the reply's thinking depends. */
  readonly prefix: string;
}

/** A change that was sent and must be sent again at the same place. */
interface Insertion<Shapes extends WireShapes> {
  /** The number of turns before it. */
  readonly at: number;
  /** The digest of those turns. */
  readonly after: string;
  readonly messages: readonly Shapes["change"][];
  /** Whether it precedes a user turn; otherwise, it follows one. */
  readonly isBeforeTurn: boolean;
  /** The setup from here on. */
  readonly setup: Setup<Shapes>;
}

interface Conversation<Shapes extends WireShapes> {
  readonly first: Setup<Shapes>;
  /** Ordered by place. */
  readonly insertions: readonly Insertion<Shapes>[];
}

/**
 * Keeps what a conversation has sent unchanged. A model binds its thinking to everything before it and
 * refuses it after anything else; prompt caches miss likewise. Instructions, tools and effort therefore stay
 * as first sent, and changes are appended if the model supports that. Thinking that is known to belong to
 * another prefix (before a compaction, with other tools, with images that were dropped since) is not sent.
 */
export class Prefixes<Shapes extends WireShapes> {
  readonly #wire: PrefixWire<Shapes>;
  readonly #conversations = new Map<string, Conversation<Shapes>>();
  /** Maps the digest of a signature to the prefix for which it was made. */
  readonly #signatures = new Map<string, string>();
  readonly #digests = new WeakMap<object, Digest>();
  /** The digests of a turn's signatures, cached because a conversation repeats its turns with each request. */
  readonly #signed = new WeakMap<Shapes["turn"], readonly string[]>();
  readonly #stripped = new WeakMap<Shapes["turn"], { readonly turn: Shapes["turn"] | undefined }>();

  constructor(wire: PrefixWire<Shapes>) {
    this.#wire = wire;
  }

  arrange(wanted: Wanted<Shapes>): Arranged<Shapes> {
    const { setup, turns, features } = wanted;
    const isPlain = !features.bindsThinking && !Object.values(features.appends).some(Boolean);
    if (isPlain) return { setup, messages: [...turns], prefix: "" };
    const places = this.#places(wanted.turns);
    const [start = ""] = places.slice(1);
    const id = wanted.key === undefined ? undefined : `${wanted.key}\n${start}`;
    const earlier = id === undefined ? undefined : this.#conversations.get(id);
    const { sent, kept } = continueWith(this.#wire, earlier, wanted, places);
    if (id !== undefined) {
      this.#conversations.delete(id);
      this.#conversations.set(id, kept);
      forgetOldest(this.#conversations, mostConversations);
    }
    return { setup: sent.first, ...this.#assemble(sent, wanted) };
  }

  /** Records the prefix for which the thinking of a reply was made. */
  remember(prefix: string, { content }: AssistantMessage): void {
    for (const block of content) {
      if (block.type !== "thinking" || !block.thinkingSignature) continue;
      this.#signatures.set(keyOf(digestOf(block.thinkingSignature)), prefix);
    }
    forgetOldest(this.#signatures, mostSignatures);
  }

  /** The digests of all prefixes of the list, starting with the empty one. */
  #places(turns: readonly Shapes["turn"][]): string[] {
    let digest = nothing;
    const places = [keyOf(digest)];
    for (const turn of turns) {
      digest = chain(digest, this.#digest(turn));
      places.push(keyOf(digest));
    }
    return places;
  }

  #assemble(
    { first, insertions }: Conversation<Shapes>,
    { turns, features }: Wanted<Shapes>,
  ): Pick<Arranged<Shapes>, "messages" | "prefix"> {
    const messages: Arranged<Shapes>["messages"] = [];
    let digest = this.#digest([first.system, first.tools]);
    const add = (message: Shapes["turn"] | Shapes["change"]): void => {
      messages.push(message);
      digest = chain(digest, this.#digest(message));
    };
    let next = 0;
    const addInsertions = (at: number): void => {
      for (let found = insertions[next]; found?.at === at; found = insertions[next]) {
        found.messages.forEach(add);
        next++;
      }
    };
    for (const [index, turn] of turns.entries()) {
      addInsertions(index);
      const isVoid = features.bindsThinking && this.#isMadeUnderAnother(turn, keyOf(digest));
      const fitting = isVoid ? this.#withoutThinking(turn) : turn;
      if (fitting !== undefined) add(fitting);
    }
    addInsertions(turns.length);
    return { messages, prefix: keyOf(digest) };
  }

  /** Thinking of unknown origin is kept: it may come from an earlier process and be valid. */
  #isMadeUnderAnother(turn: Shapes["turn"], prefix: string): boolean {
    let signed = this.#signed.get(turn);
    if (signed === undefined) {
      signed = this.#wire.signaturesOf(turn).map((signature) => keyOf(digestOf(signature)));
      this.#signed.set(turn, signed);
    }
    return signed.some((key) => (this.#signatures.get(key) ?? prefix) !== prefix);
  }

  #withoutThinking(turn: Shapes["turn"]): Shapes["turn"] | undefined {
    const known = this.#stripped.get(turn) ?? { turn: this.#wire.withoutThinking(turn) };
    this.#stripped.set(turn, known);
    return known.turn;
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

/**
 * The contents of this request, and what later requests repeat of it. A change is recomputed until a reply
 * has followed it, because the turn before it may still grow.
 */
function continueWith<Shapes extends WireShapes>(
  wire: PrefixWire<Shapes>,
  earlier: Conversation<Shapes> | undefined,
  { features, setup, turns, isContinued }: Wanted<Shapes>,
  places: readonly string[],
): { sent: Conversation<Shapes>; kept: Conversation<Shapes> } {
  const last = turns.length - 1;
  const anew: Conversation<Shapes> = { first: setup, insertions: [] };
  if (earlier === undefined || last < 1) return { sent: anew, kept: anew };
  const answered = earlier.insertions.filter(
    ({ at, after, isBeforeTurn }) =>
      places[at] === after && at < (isBeforeTurn ? last : turns.length),
  );
  const from = answered.at(-1)?.setup ?? earlier.first;
  if (!canAppend(wire, from, setup, features)) return { sent: anew, kept: anew };
  const first = features.appends.effort
    ? earlier.first
    : { ...earlier.first, effort: setup.effort };
  const insertions = [...answered];
  let { effort } = from;
  const isLate = features.appends.effort && setup.effort !== effort;
  if (isLate && setup.effort !== undefined && !isContinued && wire.startsTurn(turns[last])) {
    effort = setup.effort;
    insertions.push({
      at: last,
      after: places[last] ?? "",
      messages: [wire.effort(effort)],
      isBeforeTurn: true,
      setup: { ...from, effort },
    });
  }
  const messages = wire.changes(earlier.first, from, setup);
  if (messages.length === 0) {
    const all = { first, insertions };
    return { sent: all, kept: all };
  }
  const at = turns.length;
  const appended: Insertion<Shapes> = {
    at,
    after: places[at] ?? "",
    messages,
    isBeforeTurn: false,
    setup: { ...setup, effort },
  };
  const all = { first, insertions: [...insertions, appended] };
  return { sent: all, kept: isContinued ? { first, insertions } : all };
}

/** Maps iterate in insertion order. */
function forgetOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}
