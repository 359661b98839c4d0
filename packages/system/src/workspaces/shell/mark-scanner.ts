/** Finds a mark in a stream that arrives in pieces. */
export class MarkScanner {
  readonly #mark: Buffer;
  #held: Buffer = Buffer.alloc(0);

  constructor(mark: string) {
    this.#mark = Buffer.from(mark);
  }

  /** The bytes before the mark and, once it is found, those after it. */
  take(chunk: Buffer): { readonly before: Buffer; readonly after?: Buffer } {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const at = bytes.indexOf(this.#mark);
    if (at >= 0) {
      this.#held = Buffer.alloc(0);
      return { before: bytes.subarray(0, at), after: bytes.subarray(at + this.#mark.length) };
    }
    const kept = this.#beginning(bytes);
    this.#held = bytes.subarray(bytes.length - kept);
    return { before: bytes.subarray(0, bytes.length - kept) };
  }

  /** The bytes held back as a possible mark, after the end of the stream. */
  rest(): Buffer {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return rest;
  }

  /** How many bytes at the end may be the beginning of the mark. */
  #beginning(bytes: Buffer): number {
    for (let length = Math.min(bytes.length, this.#mark.length - 1); length > 0; length -= 1) {
      const end = bytes.subarray(bytes.length - length);
      if (end.equals(this.#mark.subarray(0, length))) return length;
    }
    return 0;
  }
}
