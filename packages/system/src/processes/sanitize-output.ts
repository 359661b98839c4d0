type State = "text" | "escape" | "sequence" | "string" | "string-escape";

// Longer than any real title or link; a longer "string" is binary output.
const maxStringLength = 4096;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const needsWork = /[\x00-\x08\x0b-\x1f\x7f-\x9f\ufff9-\ufffb]/;

/**
 * Removes terminal sequences, carriage returns and other control characters from output that
 * arrives in pieces; a sequence may be split anywhere.
 */
export class OutputSanitizer {
  #state: State = "text";
  #stringLength = 0;

  /** The printable part of the next piece. */
  push(piece: string): string {
    if (this.#state === "text" && !needsWork.test(piece)) return piece;
    let clean = "";
    let start = 0;
    for (let index = 0; index < piece.length; index++) {
      const code = piece.charCodeAt(index);
      if (this.#state === "text" && !isControl(code)) continue;
      clean += piece.slice(start, index);
      if (this.#step(code)) {
        start = index;
      } else start = index + 1;
    }
    return clean + piece.slice(start);
  }

  /** Takes one code unit that may have to be hidden; returns whether to show it. */
  #step(code: number): boolean {
    switch (this.#state) {
      case "text":
        this.#state = stateAfterControl(code);
        return false;
      case "escape":
        this.#state = stateAfterEscape(code);
        return false;
      case "sequence":
        if (code >= 0x40 && code <= 0x7e) this.#state = "text";
        else if (code === 0x1b) this.#state = "escape";
        else if (code < 0x20 || code > 0x7e) return this.#giveUp(code);
        return false;
      case "string":
        return this.#stepString(code);
      case "string-escape":
        this.#state = code === 0x5c ? "text" : stateAfterEscape(code);
        return false;
    }
  }

  #stepString(code: number): boolean {
    this.#stringLength++;
    if (code === 0x07 || code === 0x9c || code === 0x18 || code === 0x1a) this.#endString("text");
    else if (code === 0x1b) this.#endString("string-escape");
    else if (code === 0x0a || this.#stringLength > maxStringLength) {
      this.#endString("text");
      return this.#giveUp(code);
    }
    return false;
  }

  #endString(next: State): void {
    this.#state = next;
    this.#stringLength = 0;
  }

  // This was not a sequence after all: text continues here.
  #giveUp(code: number): boolean {
    this.#state = "text";
    return !isControl(code);
  }
}

function stateAfterControl(code: number): State {
  if (code === 0x1b) return "escape";
  if (code === 0x9b) return "sequence";
  return code === 0x9d || code === 0x90 || code === 0x98 || code === 0x9e || code === 0x9f
    ? "string"
    : "text";
}

function stateAfterEscape(code: number): State {
  if (code === 0x5b) return "sequence";
  if (code === 0x5d || code === 0x50 || code === 0x58 || code === 0x5e || code === 0x5f) {
    return "string";
  }
  // Intermediate characters, such as the "(" of a character set, precede the final one.
  return code === 0x1b || (code >= 0x20 && code <= 0x2f) ? "escape" : "text";
}

/** All characters that a terminal acts on, except tab and newline, and interlinear annotation marks. */
function isControl(code: number): boolean {
  if (code < 0x20) return code !== 0x09 && code !== 0x0a;
  return (code >= 0x7f && code <= 0x9f) || (code >= 0xfff9 && code <= 0xfffb);
}
