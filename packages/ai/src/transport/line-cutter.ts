/**
 * Splits bytes into the lines of server-sent events, which end with LF, CR or both. Pieces usually end with
 * an event, so little is buffered.
 */
export class LineCutter {
  readonly #decoder = new TextDecoder();
  #text = "";
  #at = 0;
  #mayHaveLine = false;
  #skipsLineFeed = false;

  /** Whether there may be another line to take. */
  get mayHaveLine(): boolean {
    return this.#mayHaveLine;
  }

  push(bytes: Uint8Array): void {
    this.#add(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Ends the last line and its event. */
  end(): void {
    this.#add(`${this.#decoder.decode()}\n\n`);
  }

  /** The next line without its line ending; undefined if none is complete. */
  next(): string | undefined {
    const end = this.#text.indexOf("\n", this.#at);
    if (end === -1) {
      this.#text = this.#text.slice(this.#at);
      this.#at = 0;
      this.#mayHaveLine = false;
      return undefined;
    }
    const line = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    this.#mayHaveLine = this.#at < this.#text.length;
    return line;
  }

  #add(given: string): void {
    let text = given;
    if (this.#skipsLineFeed && text !== "") {
      if (text.startsWith("\n")) text = text.slice(1);
      this.#skipsLineFeed = false;
    }
    if (text.includes("\r")) {
      this.#skipsLineFeed = text.endsWith("\r");
      text = text.replace(/\r\n?/g, "\n");
    }
    this.#text = this.#text.slice(this.#at) + text;
    this.#at = 0;
    this.#mayHaveLine = true;
  }
}
