import { parseJson, parseObject } from "@tau-agent/rpc-protocol/plain";

/** The parser's position in the text, ignoring nested values. */
type Place = "before" | "key" | "colon" | "value" | "after";

/**
 * Splits the text of a JSON object while it arrives: one member is the name, and the text of another is
 * passed on immediately. Each character is examined once.
 */
export class MemberSplitter {
  readonly #nameMember: string;
  readonly #passedMember: string;
  #text = "";
  #at = 0;
  #place: Place = "before";
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** The start of the current key or value. */
  #start = 0;
  #key = "";
  #named: string | undefined;
  /** Text that is passed on once the name is known. */
  #held = "";
  /** How much of the value was held or passed on. */
  #passedTo = 0;
  #hasPassed = false;

  constructor(nameMember: string, passedMember: string) {
    this.#nameMember = nameMember;
    this.#passedMember = passedMember;
  }

  /** All text so far. */
  get text(): string {
    return this.#text;
  }

  /** The name, once it is complete. */
  get named(): string | undefined {
    return this.#named;
  }

  /** Takes a piece of the text; returns what can be passed on now. */
  feed(piece: string): string {
    this.#text += piece;
    for (; this.#at < this.#text.length; this.#at++) this.#read(this.#text[this.#at] ?? "");
    if (this.#isPassing()) this.#hold(this.#at);
    return this.#release();
  }

  /** Ends the text. If the member to pass on is missing, the members other than the name are used. */
  end(): string {
    if (this.#named !== undefined && !this.#hasPassed) this.#held += this.#others();
    return this.#release();
  }

  #read(character: string): void {
    if (this.#isInString) this.#readString(character);
    else if (character === '"') this.#beginString();
    else if (character === "{" || character === "[") this.#open();
    else if (character === "}" || character === "]") this.#close();
    else if (this.#depth !== 1) return;
    else if (character === ":" && this.#place === "colon") this.#place = "value";
    else if (character === ",") this.#endValue();
    else if (/\S/.test(character) && this.#place === "value") this.#beginValue();
  }

  #readString(character: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === "\\") this.#isEscaped = true;
    else if (character === '"') {
      this.#isInString = false;
      if (this.#depth !== 1 || this.#place !== "key") return;
      this.#key = String(parseJson(this.#text.slice(this.#start, this.#at + 1)));
      this.#place = "colon";
    }
  }

  #beginString(): void {
    this.#isInString = true;
    if (this.#depth !== 1) return;
    if (this.#place === "before") {
      this.#place = "key";
      this.#start = this.#at;
    } else if (this.#place === "value") this.#beginValue();
  }

  #open(): void {
    if (this.#depth === 1 && this.#place === "value") this.#beginValue();
    this.#depth++;
  }

  #close(): void {
    if (this.#depth === 1) this.#endValue();
    this.#depth--;
  }

  #beginValue(): void {
    this.#start = this.#at;
    this.#passedTo = this.#at;
    this.#place = "after";
  }

  #endValue(): void {
    if (this.#place === "after") {
      const value = this.#text.slice(this.#start, this.#at).trimEnd();
      if (this.#key === this.#nameMember) this.#named ??= nameIn(value);
      else if (this.#key === this.#passedMember) this.#endPassed(value);
    }
    this.#place = "before";
  }

  /** Some models write the member as a string that contains JSON. */
  #endPassed(value: string): void {
    if (value.startsWith('"')) this.#held += String(parseJson(value));
    else this.#hold(this.#start + value.length);
    this.#hasPassed = true;
  }

  #isPassing(): boolean {
    return (
      this.#place === "after" &&
      this.#key === this.#passedMember &&
      !this.#hasPassed &&
      this.#text[this.#start] !== '"'
    );
  }

  #hold(to: number): void {
    if (to <= this.#passedTo) return;
    this.#held += this.#text.slice(this.#passedTo, to);
    this.#passedTo = to;
  }

  #release(): string {
    if (this.#named === undefined) return "";
    const piece = this.#held;
    this.#held = "";
    return piece;
  }

  #others(): string {
    const members = Object.entries(parseObject(this.#text) ?? {}).filter(
      ([name]) => name !== this.#nameMember,
    );
    return JSON.stringify(Object.fromEntries(members));
  }
}

function nameIn(value: string): string | undefined {
  const name = parseJson(value);
  return typeof name === "string" && name.trim() !== "" ? name.trim() : undefined;
}
