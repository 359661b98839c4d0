const maxBytes = 4096;
const maxLength = 500;

/** The last line of a program's output, for errors. */
export class LastLine {
  #tail: Buffer = Buffer.alloc(0);

  push(bytes: Uint8Array): void {
    this.#tail = Buffer.concat([this.#tail, bytes.subarray(-maxBytes)]).subarray(-maxBytes);
  }

  /** Undefined if there was no output so far. */
  get text(): string | undefined {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    const lines = this.#tail.toString().replace(/\x1b\[[\d;?]*[A-Za-z]|[^\P{Cc}\n\r]/gu, "");
    const said = lines.split(/[\r\n]+/).map((line) => line.trim());
    return said.findLast((line) => line !== "")?.slice(0, maxLength);
  }
}
