import type { ShellLine, ShellPart, WritePart } from "./shell-line.ts";
import type { ShellWord } from "./shell-word.ts";

/** A simple command with its words as they are needed inside of this folder. */
export interface CommandReading {
  readonly kind: "command";
  readonly words: readonly ShellWord[];
  readonly isWrapper: boolean;
}

/** What scheduling wants to know of a line besides its parts. */
export type LineTrait = "assignment" | "background" | "function";

const folderReason = "it writes to a path relative to a folder that it changes";

/** What is known of a line so far. Inner lines, such as that of `sh -c`, are read into the same. */
export class LineReading {
  readonly parts: (CommandReading | WritePart)[] = [];
  readonly traits = new Set<LineTrait>();
  /** Why the line cannot be understood; the first reason found. */
  reason: string | undefined;
  /** A `cd` came before, in the order of the text. */
  hasMoved = false;
  #mayRepeat = false;
  #movesAtAll = false;
  #writesRelative = false;

  /** The rest of the text may run in another order than it is written in. */
  repeats(): void {
    this.#mayRepeat = true;
    this.#checkFolder();
  }

  moves(): void {
    this.hasMoved = true;
    this.#movesAtAll = true;
    this.#checkFolder();
  }

  fail(reason: string | undefined): void {
    this.reason ??= reason;
  }

  command(words: readonly ShellWord[], isWrapper: boolean): void {
    this.parts.push({ kind: "command", words, isWrapper });
  }

  write(path: string): void {
    this.parts.push({ kind: "write", path });
    if (path.startsWith("/") || path === "~" || path.startsWith("~/")) return;
    this.#writesRelative = true;
    if (this.hasMoved) this.fail(folderReason);
    this.#checkFolder();
  }

  /** In a loop or a function a write may run after a `cd` that is written behind it. */
  #checkFolder(): void {
    if (this.#mayRepeat && this.#movesAtAll && this.#writesRelative) this.fail(folderReason);
  }

  toShellLine(): ShellLine {
    const parts = this.parts.map(toPart);
    if (this.reason === undefined) return { understood: true, parts };
    return { understood: false, reason: this.reason, parts };
  }
}

function toPart(part: CommandReading | WritePart): ShellPart {
  if (part.kind === "write") return part;
  const texts = part.words.map((word) => word.text);
  const text = texts.join(" ");
  const command = { kind: "command", text, name: texts[0] ?? "" } as const;
  return part.isWrapper ? { ...command, isWrapper: true } : command;
}
