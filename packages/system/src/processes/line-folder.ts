const newline = 10;
const carriageReturn = 13;
/** A longer line passes as it is, so that memory stays bounded. */
const longestHeld = 4096;
const nothing = Buffer.alloc(0);

/**
 * Leaves out of an output what says nothing: runs of equal lines become a line that counts them, and of a
 * line that was overwritten with `\r`, as progress is, the last state stays.
 */
export class LineFolder {
  /** The current line, as far as it came. */
  #held: Buffer = nothing;
  /** The current line is too long to be held. */
  #isLong = false;
  #last: Buffer | undefined;
  #repeats = 0;
  #hasFolded = false;

  /** Whether something was left out. */
  get hasFolded(): boolean {
    return this.#hasFolded;
  }

  /** Takes bytes, and returns those that can be shown for good. */
  push(bytes: Buffer): Buffer {
    const shown: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
      this.#endLine(bytes.subarray(start, end + 1), shown);
      start = end + 1;
    }
    this.#hold(bytes.subarray(start), shown);
    return Buffer.concat(shown);
  }

  /** What follows the bytes that were shown, as it is now. */
  get pending(): Buffer {
    return Buffer.concat([this.#repeatsText(), this.#held]);
  }

  #endLine(rest: Buffer, shown: Buffer[]): void {
    if (this.#isLong) {
      this.#isLong = false;
      shown.push(rest);
      return;
    }
    const line = this.#lastState(
      this.#held.length === 0 ? rest : Buffer.concat([this.#held, rest]),
    );
    this.#held = nothing;
    if (this.#last?.equals(line)) {
      this.#repeats++;
      return;
    }
    this.#endRun(shown);
    this.#last = Buffer.from(line);
    shown.push(line);
  }

  #hold(rest: Buffer, shown: Buffer[]): void {
    if (rest.length === 0) return;
    if (this.#isLong) {
      shown.push(rest);
      return;
    }
    this.#held = Buffer.from(this.#lastState(Buffer.concat([this.#held, rest])));
    if (this.#held.length <= longestHeld) return;
    this.#endRun(shown);
    this.#last = undefined;
    shown.push(this.#held);
    this.#held = nothing;
    this.#isLong = true;
  }

  #endRun(shown: Buffer[]): void {
    if (this.#repeats === 0) return;
    const note = this.#noteText();
    if (note !== undefined) this.#hasFolded = true;
    shown.push(this.#repeatsText());
    this.#repeats = 0;
  }

  /** The repeated lines, or their number where that is shorter. */
  #repeatsText(): Buffer {
    if (this.#repeats === 0 || this.#last === undefined) return nothing;
    return this.#noteText() ?? Buffer.concat(Array<Buffer>(this.#repeats).fill(this.#last));
  }

  #noteText(): Buffer | undefined {
    const count = String(this.#repeats).replace(/\B(?=(\d{3})+$)/g, " ");
    const note = Buffer.from(`[last line repeated ${count} times]\n`);
    const isShorter = note.length < this.#repeats * (this.#last?.length ?? 0);
    return this.#repeats > 2 && isShorter ? note : undefined;
  }

  /** What a terminal would show of a line; `\r` at its end overwrites nothing yet. */
  #lastState(line: Buffer): Buffer {
    let end = line.length;
    while (end > 0 && (line[end - 1] === newline || line[end - 1] === carriageReturn)) end--;
    const at = end === 0 ? -1 : line.lastIndexOf(carriageReturn, end - 1);
    if (at === -1) return line;
    this.#hasFolded = true;
    return line.subarray(at + 1);
  }
}
