export const keyMark = "[redacted]";
const markBytes = Buffer.from(keyMark);
const nothing = Buffer.alloc(0);

/**
 * Removes keys from output that arrives in chunks. Bytes that may be the beginning of a key wait
 * for the next chunk, so that a key split between chunks is found.
 */
export class OutputMask {
  readonly #keys: readonly Buffer[];
  #held: Buffer = nothing;

  /** @param keys - the longest first: if two keys begin at the same place, the longer one counts. */
  constructor(keys: readonly string[]) {
    this.#keys = keys.map((key) => Buffer.from(key));
  }

  get keys(): readonly string[] {
    return this.#keys.map(String);
  }

  /** How many bytes of the last chunks may be the beginning of a key. */
  get heldBytes(): number {
    return this.#held.length;
  }

  /** The held bytes and the chunk without keys, except for bytes that have to wait. */
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
        // A copy: the chunk belongs to the caller.
        this.#held = Buffer.from(bytes.subarray(wait));
        return pieces.length === 1 ? (pieces[0] ?? nothing) : Buffer.concat(pieces);
      }
      pieces.push(bytes.subarray(from, found.at), markBytes);
      from = found.end;
    }
  }

  /** The bytes still held, at the end of the output. */
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

  /** Where an incomplete key at the end begins; the length of the bytes if there is none. */
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

/** Finds keys in one buffer; the position of each key is remembered, so nothing is searched twice. */
function createKeyFinder(bytes: Buffer, keys: readonly Buffer[]) {
  const ownKeys = keys.map((key) => ({ key, at: -2 }));

  return {
    /** The first complete key at or after `from` that begins before `before`. */
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

/** Removes keys from a complete text. */
export function maskText(mask: OutputMask, text: string): string {
  return Buffer.concat([mask.push(Buffer.from(text)), mask.end()]).toString();
}
