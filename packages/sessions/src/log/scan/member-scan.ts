import {
  bytesOf,
  closeBrace,
  closeBracket,
  colon,
  comma,
  isAt,
  openBrace,
  openBracket,
  skipValue,
  skipWord,
  unsure,
} from "./json-bytes.ts";

/** Skips a value; see `json-bytes.ts`. */
export type Skip = (bytes: Uint8Array, at: number) => number;

interface Member {
  /** The name with its quotes and the colon. */
  readonly word: Uint8Array;
  readonly bit: number;
  readonly skip: Skip;
  readonly followers: Followers;
}

/**
 * The members that followed a member in previous objects: hosts write members in the same order for
 * each kind of object, and kinds alternate.
 */
interface Followers {
  latest: Member | undefined;
  earlier: Member | undefined;
}

/** Skips objects of one kind, and notes which known members they have. */
export class MemberScan<Name extends string> {
  /** The known members of the last object, as bits; see {@link bits}. */
  seen = 0;
  readonly #bits = new Map<string, number>();
  readonly #members: readonly Member[];
  readonly #first: Followers = { latest: undefined, earlier: undefined };

  /** @param members - how to skip each known member; any other may have any value */
  constructor(members: Readonly<Record<Name, Skip>>) {
    this.#members = Object.entries<Skip>(members).map(([name, skip], index) => {
      this.#bits.set(name, 1 << index);
      const followers = { latest: undefined, earlier: undefined };
      return { word: bytesOf(`"${name}":`), bit: 1 << index, skip, followers };
    });
  }

  bits(...names: readonly Name[]): number {
    return names.reduce((sum, name) => sum | (this.#bits.get(name) ?? 0), 0);
  }

  /** Skips an object that has each known member at most once, with the right kind of value. */
  readonly skip: Skip = (bytes, at) => {
    if (bytes[at] !== openBrace) return unsure;
    let seen = 0;
    let followers = this.#first;
    let next = bytes[at + 1] === closeBrace ? at + 1 : at;
    while (bytes[next] !== closeBrace) {
      if (bytes[next] !== comma && next !== at) return unsure;
      next += 1;
      let member = expected(bytes, next, followers);
      if (member === undefined) {
        const end = skipWord(bytes, next);
        if (end === unsure || bytes[end] !== colon) return unsure;
        member = this.#find(bytes, next, end + 1);
        if (member === undefined) {
          next = skipValue(bytes, end + 1);
          if (next === unsure) return unsure;
          continue;
        }
        followers.earlier = followers.latest;
        followers.latest = member;
      }
      if ((seen & member.bit) !== 0) return unsure;
      seen |= member.bit;
      followers = member.followers;
      next = member.skip(bytes, next + member.word.length);
      if (next === unsure) return unsure;
    }
    // Set only now: the value of a member may itself have been an object of the same kind.
    this.seen = seen;
    return next + 1;
  };

  #find(bytes: Uint8Array, from: number, to: number): Member | undefined {
    return this.#members.find(({ word }) => word.length === to - from && isAt(bytes, from, word));
  }
}

function expected(
  bytes: Uint8Array,
  at: number,
  { latest, earlier }: Followers,
): Member | undefined {
  if (latest !== undefined && isAt(bytes, at, latest.word)) return latest;
  return earlier !== undefined && isAt(bytes, at, earlier.word) ? earlier : undefined;
}

export function listOf(skip: Skip): Skip {
  return (bytes, at) => {
    if (bytes[at] !== openBracket) return unsure;
    let next = at + 1;
    if (bytes[next] === closeBracket) return at + 2;
    for (;;) {
      next = skip(bytes, next);
      if (next === unsure) return unsure;
      if (bytes[next] !== comma) break;
      next += 1;
    }
    return bytes[next] === closeBracket ? next + 1 : unsure;
  };
}
