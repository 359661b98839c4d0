interface ValuePiece {
  readonly text: string;
  /** Whether the piece starts a new string. */
  readonly isStart: boolean;
}

export interface ArgumentPieces {
  /** The JSON so far, with its strings decoded. */
  readonly whole: string;
  /** Only the strings, one after the other. */
  readonly values: readonly ValuePiece[];
}

const escapes: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/**
 * Decodes the JSON of a call's arguments while it streams, so that rules see decoded text instead
 * of `\n` and `\"`. Malformed JSON passes unchanged. Each piece costs only its own length.
 */
export class ArgumentText {
  #state: "outside" | "string" | "escape" | "unicode" = "outside";
  #digits = "";
  /** Whether the first piece of a string is still to come. */
  #isStart = false;

  push(json: string): ArgumentPieces {
    let whole = "";
    const values: ValuePiece[] = [];
    const addValue = (text: string): void => {
      whole += text;
      if (text === "" && !this.#isStart) return;
      values.push({ text, isStart: this.#isStart });
      this.#isStart = false;
    };
    for (let at = 0; at < json.length; ) {
      if (this.#state === "outside") {
        const quote = json.indexOf('"', at);
        const end = quote === -1 ? json.length : quote + 1;
        whole += json.slice(at, end);
        if (quote !== -1) {
          this.#state = "string";
          this.#isStart = true;
        }
        at = end;
      } else if (this.#state === "string") {
        const end = nextSpecial(json, at);
        addValue(json.slice(at, end));
        at = end + 1;
        if (end === json.length) break;
        if (json[end] === "\\") this.#state = "escape";
        else {
          this.#state = "outside";
          whole += '"';
        }
      } else addValue(this.#readEscape(json.charAt(at++)));
    }
    return { whole, values };
  }

  #readEscape(character: string): string {
    if (this.#state === "escape") {
      this.#digits = "";
      this.#state = character === "u" ? "unicode" : "string";
      return character === "u" ? "" : (escapes[character] ?? character);
    }
    this.#digits += character;
    if (this.#digits.length < 4) return "";
    this.#state = "string";
    const code = Number.parseInt(this.#digits, 16);
    return Number.isNaN(code) ? this.#digits : String.fromCharCode(code);
  }
}

function nextSpecial(json: string, from: number): number {
  for (let at = from; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === 0x22 || code === 0x5c) return at;
  }
  return json.length;
}
