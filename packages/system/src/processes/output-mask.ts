export const keyMark = "[redacted]";
const markBytes = Buffer.from(keyMark);
const nothing = Buffer.alloc(0);

/**
 * Takes keys out of an output that arrives in chunks. What may be the beginning of a key waits for
 * the next chunk, so that no border hides one.
 */
export class OutputMask {
  readonly #keys: readonly Buffer[];
  #held: Buffer = nothing;

  /** @param keys - the longest first: of two that begin at one place it is the one that counts. */
  constructor(keys: readonly string[]) {
    this.#keys = keys.map((key) => Buffer.from(key));
  }

  get keys(): readonly string[] {
    return this.#keys.map(String);
  }

  /** How much of the last chunks may be the beginning of a key. */
  get heldBytes(): number {
    return this.#held.length;
  }

  /** The chunk without keys, from what waited to what has to wait. */
  push(chunk: Buffer): Buffer {
    if (this.#keys.length === 0) return chunk;
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const pieces: Buffer[] = [];
    let from = 0;
    const finder = createKeyFinder(bytes, this.#keys);
    for (;;) {
      const wait = this.#beginningOfKey(bytes, from);
      const found = finder.next(from, wait);
      if (found === undefined) {
        pieces.push(bytes.subarray(from, wait));
        // A copy: the chunk belongs to somebody else.
        this.#held = Buffer.from(bytes.subarray(wait));
        return pieces.length === 1 ? (pieces[0] ?? nothing) : Buffer.concat(pieces);
      }
      pieces.push(bytes.subarray(from, found.at), markBytes);
      from = found.end;
    }
  }

  /** What still waits, at the end of the output. */
  end(): Buffer {
    const rest = this.#held;
    this.#held = nothing;
    const finder = createKeyFinder(rest, this.#keys);
    const pieces: Buffer[] = [];
    let from = 0;
    for (let found = finder.next(0, rest.length); found !== undefined; ) {
      pieces.push(rest.subarray(from, found.at), markBytes);
      from = found.end;
      found = finder.next(from, rest.length);
    }
    return Buffer.concat([...pieces, rest.subarray(from)]);
  }

  /** Where a key begins whose rest has not arrived; the length of the bytes when there is none. */
  #beginningOfKey(bytes: Buffer, from: number): number {
    let first = bytes.length;
    for (const key of this.#keys) {
      const start = Math.max(from, bytes.length - key.length + 1);
      for (let at = bytes.indexOf(key[0] ?? 0, start); at !== -1 && at < first; ) {
        const length = bytes.length - at;
        if (bytes.compare(key, 0, length, at) === 0) first = at;
        else at = bytes.indexOf(key[0] ?? 0, at + 1);
      }
    }
    return first;
  }
}

/** Finds keys in one buffer, and looks for each key only once up to where it is. */
function createKeyFinder(bytes: Buffer, keys: readonly Buffer[]) {
  const ownKeys = keys.map((key) => ({ key, at: -2 }));

  return {
    /** The first whole key from one place on that begins before another. */
    next(from: number, before: number): { readonly at: number; readonly end: number } | undefined {
      let found: { at: number; end: number } | undefined;
      for (const known of ownKeys) {
        const isPassed = known.at !== -1 && known.at < from;
        if (isPassed) known.at = bytes.indexOf(known.key, from);
        const { at, key } = known;
        if (at !== -1 && at < (found?.at ?? before)) found = { at, end: at + key.length };
      }
      return found;
    },
  };
}

/** A whole text without keys. */
export function maskText(mask: OutputMask, text: string): string {
  return Buffer.concat([mask.push(Buffer.from(text)), mask.end()]).toString();
}
