import type { ShellWord } from "../line/shell-word.ts";

export interface ScannedRedirection {
  /** Without the number of a descriptor: `>`, `>>`, `>|`, `>&`, `<`, `<&`, `<>`. */
  readonly operator: string;
  readonly target: ShellWord;
}

export interface ScannedCommand {
  /** Empty if there are only redirections. */
  readonly words: readonly ShellWord[];
  readonly redirections: readonly ScannedRedirection[];
  readonly hasAssignments: boolean;
}

/** A line within the grammar, with its commands in textual order. */
export interface ScannedLine {
  readonly commands: readonly ScannedCommand[];
  readonly hasBackground: boolean;
}
