import type { ShellWord } from "../line/shell-word.ts";
import { NotUnderstood } from "./not-understood.ts";

export interface ScannedWord extends ShellWord {
  readonly raw: string;
}

/** Characters without a special meaning outside of quotes. */
const plain = /[\w./,:+@%=^~\]!#-]+/y;
/** Characters that end a word. */
const end = /[\s;&|<>]/;
/**
 * `$NAME`, `${NAME}`, the arguments of `sh -c`, the last exit code, the last job. Not `$_`, which
 * the line itself sets.
 */
const parameter = /\$(?:(?!_\b)[A-Za-z_]\w*|\{(?!_\})[A-Za-z_]\w*\}|[?!0-9@*])/y;
/** A dollar sign before one of these is literal. */
const plainDollar = { bare: /\$(?=[ \t\n;|]|$)/y, quoted: /\$(?=["' ./,:;)|%])/y };
const quotedText = /[^"\\$`]+/y;

/**
 * Reads one word of the shell. Outside of quotes it accepts only literal characters and patterns: no
 * brace expansion, no arrays, no substitution of any kind, and no quotes other than plain ones.
 */
export class WordScanner {
  readonly #source: string;
  #at: number;
  #text = "";
  #isLiteral = true;
  #isOpen = false;
  #maySplit = false;

  constructor(source: string, at: number) {
    this.#source = source;
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  /** @throws {NotUnderstood} */
  read(): ScannedWord {
    const start = this.#at;
    while (this.#at < this.#source.length && !end.test(this.#source.charAt(this.#at))) {
      this.#piece(start);
    }
    const raw = this.#source.slice(start, this.#at);
    return {
      raw,
      text: this.#text,
      isLiteral: this.#isLiteral,
      isOpen: this.#isOpen,
      maySplit: this.#maySplit,
      hasTilde: raw.startsWith("~"),
    };
  }

  #piece(start: number): void {
    const text = this.#take(plain);
    if (text !== undefined) {
      this.#text += text;
      return;
    }
    const mark = this.#source.charAt(this.#at);
    if (mark === "'") this.#singleQuotes();
    else if (mark === '"') this.#doubleQuotes(this.#at === start);
    else if (mark === "\\") this.#escape();
    else if (mark === "$") this.#dollar(true);
    else if (mark === "{") this.#emptyBraces();
    else if (mark === "*" || mark === "?" || mark === "[") this.#pattern(mark, start);
    else throw new NotUnderstood(reasonFor(mark));
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #singleQuotes(): void {
    const close = this.#source.indexOf("'", this.#at + 1);
    if (close < 0) throw new NotUnderstood("a quote is not closed");
    this.#text += this.#source.slice(this.#at + 1, close);
    this.#at = close + 1;
  }

  #doubleQuotes(isFirst: boolean): void {
    this.#at += 1;
    for (let isStart = isFirst; this.#source.charAt(this.#at) !== '"'; isStart = false) {
      const text = this.#take(quotedText);
      if (text !== undefined) {
        this.#text += text;
        continue;
      }
      switch (this.#source.charAt(this.#at)) {
        case "\\":
          this.#quotedEscape();
          break;
        case "$":
          this.#dollar(false, isStart);
          break;
        case "`":
          throw new NotUnderstood(reasonFor("`"));
        default:
          throw new NotUnderstood("a quote is not closed");
      }
    }
    this.#at += 1;
  }

  #quotedEscape(): void {
    const next = this.#source.charAt(this.#at + 1);
    if (next === "") throw new NotUnderstood("a quote is not closed");
    if (next !== "\n") this.#text += /[$`"\\]/.test(next) ? next : `\\${next}`;
    this.#at += 2;
  }

  #escape(): void {
    const next = this.#source.charAt(this.#at + 1);
    if (!/[ -~]/.test(next)) throw new NotUnderstood("it has an escape of an unusual character");
    this.#text += next;
    this.#at += 2;
  }

  #dollar(isBare: boolean, isStart = true): void {
    const name = this.#take(parameter);
    if (name === undefined) {
      const dollar = this.#take(isBare ? plainDollar.bare : plainDollar.quoted);
      if (dollar === undefined) throw new NotUnderstood(this.#dollarReason());
      this.#text += dollar;
      return;
    }
    this.#text += name;
    this.#isLiteral = false;
    // The exit code is always a single number.
    this.#maySplit ||= name === "$@" || (isBare && name !== "$?");
    this.#isOpen ||= this.#maySplit || isStart;
  }

  #dollarReason(): string {
    const next = this.#source.slice(this.#at + 1, this.#at + 2);
    if (next === "(") return "it has a command substitution";
    return next === "'" || next === '"'
      ? "it has quotes of another kind than '…' and \"…\""
      : "it has an expansion other than $NAME";
  }

  /** `find` and `xargs` use them as a placeholder. */
  #emptyBraces(): void {
    if (this.#source.charAt(this.#at + 1) !== "}") throw new NotUnderstood("it has braces");
    this.#text += "{}";
    this.#at += 2;
  }

  /** A lone `[` is a command. */
  #pattern(mark: string, start: number): void {
    const next = this.#source.charAt(this.#at + 1);
    const isCommand = mark === "[" && this.#at === start && (next === "" || /\s/.test(next));
    if (!isCommand) {
      this.#isLiteral = false;
      this.#isOpen = true;
      this.#maySplit = true;
    }
    this.#text += mark;
    this.#at += 1;
  }
}

function reasonFor(mark: string): string {
  if (mark === "`") return "it has a command substitution";
  if (mark === "(" || mark === ")") return "it has parentheses";
  if (mark === "}") return "it has braces";
  return "it has an unusual character outside of quotes";
}
