import { isHarmlessAssignment } from "./harmless-assignment.ts";
import { NotUnderstood } from "./not-understood.ts";
import type { ScannedCommand, ScannedLine, ScannedRedirection } from "./scanned-line.ts";
import { type ScannedWord, WordScanner } from "./word-scanner.ts";

const blank = /(?:[ \t]|(?<=^|[ \t\n])\\\n)+/y;
const comment = /#[^\n]*/y;
const separator = /&&|\|\||\|(?!&)|;(?![;&])|&(?!>)|\n/y;
const redirection = /\d?(<>|<&|<<(?![<-])|<|>>|>\||>&|>)/y;
const delimiter = /^(?:(\w+)|'(\w+)'|"(\w+)")$/;

/** Operators after which a command must follow. */
const joins: ReadonlySet<string> = new Set(["&&", "||", "|"]);

/** Words that the shell reads as part of a construct instead of a command. */
const reserved: ReadonlySet<string> = new Set([
  ...["if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until"],
  ...["do", "done", "in", "function", "coproc", "time", "!", "[[", "]]"],
]);

/**
 * Reads a line of bash that is entirely within a small grammar (see `docs/approvals.md`); any other line is
 * not understood. Three attempts to find dangerous constructs in the whole language failed ([decision
 * 29](../../../../../docs/decisions/0029-a-small-grammar.md)).
 *
 * @throws {NotUnderstood}
 */
export function scanLine(source: string): ScannedLine {
  return new LineScanner(source).line();
}

class LineScanner {
  readonly #source: string;
  #at = 0;
  #hereDocument: { readonly end: string; readonly isQuoted: boolean } | undefined;

  constructor(source: string) {
    this.#source = source;
  }

  line(): ScannedLine {
    const commands: ScannedCommand[] = [];
    let hasBackground = false;
    let operator = "";
    for (this.#newlines(); !this.#isDone; this.#newlines()) {
      const isTimed = operator !== "|" && this.#prefix();
      const command = this.#command();
      if (isTimed && (command.hasAssignments || command.words.length === 0)) {
        throw new NotUnderstood(timeReason);
      }
      commands.push(command);
      operator = this.#separator();
      if (operator === "&") hasBackground = true;
    }
    if (joins.has(operator)) throw new NotUnderstood("it ends in the middle");
    if (this.#hereDocument !== undefined) throw new NotUnderstood("a here-document is not closed");
    return { commands, hasBackground };
  }

  get #isDone(): boolean {
    return this.#at >= this.#source.length;
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source) ?? undefined;
    if (found !== undefined) this.#at += found[0].length;
    return found;
  }

  #blanks(): void {
    const start = this.#at;
    this.#take(blank);
    const hasNewline = this.#source.slice(start, this.#at).includes("\n");
    if (hasNewline && this.#hereDocument !== undefined) throw new NotUnderstood(betweenReason);
    this.#take(comment);
  }

  /** Skips empty lines and comments before a command. */
  #newlines(): void {
    for (this.#blanks(); this.#source.charAt(this.#at) === "\n"; this.#blanks()) this.#newline();
  }

  #newline(): void {
    this.#at += 1;
    const document = this.#hereDocument;
    if (document === undefined) return;
    this.#hereDocument = undefined;
    for (;;) {
      if (this.#isDone) throw new NotUnderstood("a here-document is not closed");
      const end = this.#source.indexOf("\n", this.#at);
      const line = this.#source.slice(this.#at, end < 0 ? undefined : end);
      this.#at = end < 0 ? this.#source.length : end + 1;
      if (line === document.end) return;
      if (!document.isQuoted && /[$`\\]/.test(line)) {
        throw new NotUnderstood("it has a here-document with expansions");
      }
    }
  }

  #separator(): string {
    this.#blanks();
    if (this.#isDone) return "";
    if (this.#source.charAt(this.#at) === "\n") {
      this.#newline();
      return "\n";
    }
    const operator = this.#take(separator)?.[0];
    if (operator === undefined) {
      const mark = this.#source.slice(this.#at, this.#at + 2);
      const isOfBash = mark === "&>" || mark === "|&";
      throw new NotUnderstood(
        isOfBash ? `sh may read ${mark} in another way` : "it does not parse",
      );
    }
    return operator;
  }

  /** Reads `!` and `time` before a pipeline; returns whether there is a `time`. */
  #prefix(): boolean {
    let isTimed = false;
    for (;;) {
      const found = this.#take(
        /!(?=[ \t])|time(?=[ \t]+[^-\s])|time[ \t]+-p(?=[ \t]+[^-\s])/y,
      )?.[0];
      if (found === undefined) return isTimed;
      if (found === "!" && isTimed) throw new NotUnderstood(timeReason);
      isTimed ||= found !== "!";
      this.#blanks();
    }
  }

  #command(): ScannedCommand {
    const words: ScannedWord[] = [];
    const redirections: ScannedRedirection[] = [];
    let hasAssignments = false;
    for (this.#blanks(); !this.#isAtEnd; this.#blanks()) {
      const found = this.#take(redirection);
      if (found !== undefined) {
        this.#redirection(found, redirections);
        continue;
      }
      const word = this.#word();
      // For bash this is a descriptor, for dash an argument.
      if (/^\d+$/.test(word.raw) && /[<>]/.test(this.#source.charAt(this.#at))) {
        throw new NotUnderstood(`sh may read ${word.raw} before a redirection in another way`);
      }
      const isFirst = words.length === 0;
      if (isFirst && /^[A-Za-z_]\w*(?:\+?=|\[)/.test(word.raw)) {
        if (!isHarmlessAssignment(word)) throw new NotUnderstood("it assigns to a variable");
        hasAssignments = true;
        continue;
      }
      if (isFirst && reserved.has(word.raw)) throw new NotUnderstood("it has a compound command");
      words.push(word);
    }
    if (words.length === 0 && redirections.length === 0) {
      throw new NotUnderstood(hasAssignments ? "it assigns to a variable" : "it does not parse");
    }
    if (words.length === 0 && hasAssignments) throw new NotUnderstood("it assigns to a variable");
    return { words, redirections, hasAssignments };
  }

  get #isAtEnd(): boolean {
    return this.#isDone || "\n;|&".includes(this.#source.charAt(this.#at));
  }

  #word(): ScannedWord {
    const scanner = new WordScanner(this.#source, this.#at);
    const word = scanner.read();
    this.#at = scanner.at;
    if (word.raw === "") throw new NotUnderstood("it does not parse");
    if (this.#hereDocument !== undefined && word.raw.includes("\n")) {
      throw new NotUnderstood(betweenReason);
    }
    return word;
  }

  #redirection(found: RegExpExecArray, redirections: ScannedRedirection[]): void {
    const [, operator = ""] = found;
    if (operator === "<" && this.#source.charAt(this.#at) === "<") {
      throw new NotUnderstood("it has a here-string or a here-document of an unusual form");
    }
    this.#blanks();
    const target = this.#word();
    if (operator === "<<") {
      this.#beginHereDocument(target);
      return;
    }
    // Bash reads a name here twice: the quotes in `>&'$(x)'` protect nothing, and `>& -x` runs `x`.
    if (/&$/.test(operator) && !/^(?:\d+-?|-)$/.test(target.raw)) {
      throw new NotUnderstood("it redirects to a descriptor that only the shell knows");
    }
    redirections.push({ operator, target });
  }

  #beginHereDocument({ raw }: ScannedWord): void {
    const [, bare, single, double] = delimiter.exec(raw) ?? [];
    const end = bare ?? single ?? double;
    if (end === undefined || this.#hereDocument !== undefined) {
      throw new NotUnderstood("it has a here-string or a here-document of an unusual form");
    }
    this.#hereDocument = { end, isQuoted: bare === undefined };
  }
}

/** For dash, `time` is a program that runs its first argument, even one that bash takes for an assignment. */
const timeReason = "sh may read time in another way";
const betweenReason = "a line break comes between a here-document and its text";
