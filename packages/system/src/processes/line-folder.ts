const newline = 10;
const carriageReturn = 13;
/** A longer line passes unchanged, so that memory stays bounded. */
const longestHeld = 4096;
const nothing = Buffer.alloc(0);

/**
 * Shortens repetitive output: a run of equal lines becomes one line with their number, and of a line that
 * is overwritten with `\r`, such as a progress bar, only the last state stays.
 */
export class LineFolder {
  /** The current line, as far as it has arrived. */
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

  /** Takes bytes, and returns those whose display is final. */
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

  /** The text after the bytes shown so far, in its current state. */
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
    if (line.length - 1 > longestHeld) {
      this.#showLong(line, shown);
      return;
    }
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
    this.#showLong(this.#held, shown);
    this.#held = nothing;
    this.#isLong = true;
  }

  #showLong(line: Buffer, shown: Buffer[]): void {
    this.#endRun(shown);
    this.#last = undefined;
    shown.push(line);
  }

  #endRun(shown: Buffer[]): void {
    if (this.#repeats === 0) return;
    const note = this.#noteText();
    if (note !== undefined) this.#hasFolded = true;
    shown.push(this.#repeatsText());
    this.#repeats = 0;
  }

  /** The repeated lines, or a note of their number if that is shorter. */
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

  /** A line as a terminal would show it; `\r` at its end overwrites nothing yet. */
  #lastState(line: Buffer): Buffer {
    let end = line.length;
    while (end > 0 && (line[end - 1] === newline || line[end - 1] === carriageReturn)) end--;
    const at = end === 0 ? -1 : line.lastIndexOf(carriageReturn, end - 1);
    if (at === -1) return line;
    this.#hasFolded = true;
    return line.subarray(at + 1);
  }
}
