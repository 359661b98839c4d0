import type { ShellPart, WritePart } from "./shell-line.ts";
import type { ShellWord } from "./shell-word.ts";

export interface CommandReading {
  readonly kind: "command";
  readonly words: readonly ShellWord[];
  readonly isWrapper: boolean;
}

/** Facts about a line, besides its parts, that scheduling needs. */
export type LineTrait = "assignment" | "background";

/** The facts known about a line so far. Inner lines, such as that of `sh -c`, are added to the same object. */
export class LineReading {
  readonly parts: (CommandReading | WritePart)[] = [];
  readonly traits = new Set<LineTrait>();
  /** Why the line is not understood; the first reason found. */
  reason: string | undefined;
  /** Whether a `cd` came earlier in the text. */
  #hasMoved = false;

  moves(): void {
    this.#hasMoved = true;
  }

  fail(reason: string | undefined): void {
    this.reason ??= reason;
  }

  command(words: readonly ShellWord[], isWrapper: boolean): void {
    this.parts.push({ kind: "command", words, isWrapper });
  }

  write(path: string): void {
    this.parts.push({ kind: "write", path });
    const isRelative = !(path.startsWith("/") || path === "~" || path.startsWith("~/"));
    if (isRelative && this.#hasMoved) {
      this.fail("it writes to a path relative to a folder that it changes");
    }
  }

  toParts(): ShellPart[] {
    return this.parts.map(toPart);
  }
}

function toPart(part: CommandReading | WritePart): ShellPart {
  if (part.kind === "write") return part;
  const texts = part.words.map((word) => word.text);
  const text = texts.join(" ");
  const command = { kind: "command", text, name: texts[0] ?? "" } as const;
  return part.isWrapper ? { ...command, isWrapper: true } : command;
}
