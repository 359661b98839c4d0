type Container =
  | { readonly kind: "object"; readonly target: Record<string, unknown>; key: string }
  | { readonly kind: "array"; readonly target: unknown[]; index: number };

type Mode =
  | "value"
  | "first_element"
  | "first_key"
  | "key"
  | "colon"
  | "after_value"
  | "string"
  | "escape"
  | "unicode"
  | "number"
  | "literal"
  | "complete"
  | "malformed";

/** Deeper than any tool's schema; serializing a value of thousands of levels overflows the stack. */
const mostNested = 512;

const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const literals: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/**
 * Reads a JSON document in pieces and provides the best value so far after each. The cost of a piece depends
 * only on its own length: nothing is read twice. Strings are available while they grow, numbers and literals
 * once they are complete. Raw control characters and unknown escapes are kept as written.
 */
export class PartialJson {
  #mode: Mode = "value";
  #root: unknown;
  #stack: Container[] = [];
  #text = "";
  #literalText = "";
  #isKey = false;

  /** The document so far; undefined until its first value begins. Containers are modified in place. */
  get value(): unknown {
    return this.#root;
  }

  /** Whether the root value has been closed. */
  get isComplete(): boolean {
    return this.#mode === "complete";
  }

  /** Reads one piece. Never throws; after a syntax error the rest is ignored. */
  feed(piece: string): void {
    let at = 0;
    while (at < piece.length && this.#mode !== "malformed") {
      at = this.#mode === "string" ? this.#readString(piece, at) : this.#readCharacter(piece, at);
    }
    if (this.#isInsideValueString()) this.#place(this.#text);
  }

  /** Ends the input. Returns whether the pieces were exactly one JSON value. */
  end(): boolean {
    if (this.#mode === "number") this.#endNumber();
    else if (this.#mode === "literal") this.#endLiteral();
    if (!this.isComplete) this.#mode = "malformed";
    return this.isComplete;
  }

  #isInsideValueString(): boolean {
    const mode = this.#mode;
    return !this.#isKey && (mode === "string" || mode === "escape");
  }

  #readString(piece: string, from: number): number {
    for (let at = from; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (code !== 0x22 && code !== 0x5c) continue;
      this.#text += piece.slice(from, at);
      if (code === 0x5c) this.#mode = "escape";
      else this.#endString();
      return at + 1;
    }
    this.#text += piece.slice(from);
    return piece.length;
  }

  /** Returns the next position: after the character, or at it if it ends a number or literal. */
  #readCharacter(piece: string, at: number): number {
    const character = piece.charAt(at);
    switch (this.#mode) {
      case "escape":
        this.#readEscape(character);
        return at + 1;
      case "unicode":
        return this.#readUnicode(character) ? at + 1 : at;
      case "number":
        if (!/[\d+\-.eE]/.test(character)) {
          this.#endNumber();
          return at;
        }
        this.#literalText += character;
        return at + 1;
      case "literal":
        if (!/[a-z]/.test(character)) {
          this.#endLiteral();
          return at;
        }
        this.#literalText += character;
        if (this.#literalText.length > 5) this.#mode = "malformed";
        return at + 1;
      default:
        if (!/[ \t\r\n]/.test(character)) this.#readToken(character);
        return at + 1;
    }
  }

  #readEscape(character: string): void {
    if (character === "u") {
      this.#mode = "unicode";
      this.#literalText = "";
      return;
    }
    this.#text += escapes[character] ?? `\\${character}`;
    this.#mode = "string";
  }

  #readUnicode(character: string): boolean {
    if (!/[\da-fA-F]/.test(character)) {
      this.#text += `\\u${this.#literalText}`;
      this.#mode = "string";
      return false;
    }
    this.#literalText += character;
    if (this.#literalText.length === 4) {
      this.#text += String.fromCharCode(Number.parseInt(this.#literalText, 16));
      this.#mode = "string";
    }
    return true;
  }

  #readToken(character: string): void {
    switch (this.#mode) {
      case "first_element":
        if (character === "]") this.#close("array");
        else this.#beginValue(character);
        return;
      case "value":
        this.#beginValue(character);
        return;
      case "first_key":
      case "key":
        if (character === '"') this.#beginString(true);
        else if (character === "}" && this.#mode === "first_key") this.#close("object");
        else this.#mode = "malformed";
        return;
      case "colon":
        this.#mode = character === ":" ? "value" : "malformed";
        return;
      case "after_value":
        this.#readSeparator(character);
        return;
      default:
        this.#mode = "malformed";
    }
  }

  #readSeparator(character: string): void {
    const top = this.#stack.at(-1);
    if (character === "," && top !== undefined) {
      if (top.kind === "array") top.index++;
      this.#mode = top.kind === "array" ? "value" : "key";
    } else if (character === "]") this.#close("array");
    else if (character === "}") this.#close("object");
    else this.#mode = "malformed";
  }

  #beginValue(character: string): void {
    if (character === '"') {
      this.#beginString(false);
    } else if (/[{[]/.test(character) && this.#stack.length >= mostNested) {
      this.#mode = "malformed";
    } else if (character === "{") {
      const target: Record<string, unknown> = {};
      this.#place(target);
      this.#stack.push({ kind: "object", target, key: "" });
      this.#mode = "first_key";
    } else if (character === "[") {
      const target: unknown[] = [];
      this.#place(target);
      this.#stack.push({ kind: "array", target, index: 0 });
      this.#mode = "first_element";
    } else if (/[-\d]/.test(character)) {
      this.#literalText = character;
      this.#mode = "number";
    } else if (/[tfn]/.test(character)) {
      this.#literalText = character;
      this.#mode = "literal";
    } else {
      this.#mode = "malformed";
    }
  }

  #beginString(isKey: boolean): void {
    this.#text = "";
    this.#isKey = isKey;
    this.#mode = "string";
  }

  #endString(): void {
    if (!this.#isKey) {
      this.#endValue(this.#text);
      return;
    }
    const top = this.#stack.at(-1);
    if (top?.kind === "object") top.key = this.#text;
    this.#mode = "colon";
  }

  #endNumber(): void {
    if (numberPattern.test(this.#literalText)) this.#endValue(Number(this.#literalText));
    else this.#mode = "malformed";
  }

  #endLiteral(): void {
    if (Object.hasOwn(literals, this.#literalText)) this.#endValue(literals[this.#literalText]);
    else this.#mode = "malformed";
  }

  #endValue(value: unknown): void {
    this.#place(value);
    this.#mode = this.#stack.length === 0 ? "complete" : "after_value";
  }

  #close(kind: Container["kind"]): void {
    if (this.#stack.at(-1)?.kind !== kind) {
      this.#mode = "malformed";
      return;
    }
    this.#stack.pop();
    this.#mode = this.#stack.length === 0 ? "complete" : "after_value";
  }

  #place(value: unknown): void {
    const top = this.#stack.at(-1);
    if (top === undefined) this.#root = value;
    else if (top.kind === "array") top.target[top.index] = value;
    else if (top.key !== "__proto__") top.target[top.key] = value;
    else {
      const own = { value, enumerable: true, configurable: true, writable: true };
      Object.defineProperty(top.target, top.key, own);
    }
  }
}
