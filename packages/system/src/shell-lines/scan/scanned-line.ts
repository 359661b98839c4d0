import type { ShellWord } from "../line/shell-word.ts";

export interface ScannedRedirection {
  /** Without the number of a descriptor: `>`, `>>`, `>|`, `>&`, `<`, `<&`, `<>`. */
  readonly operator: string;
  readonly target: ShellWord;
}

export interface ScannedCommand {
  /** Empty where there are redirections only. */
  readonly words: readonly ShellWord[];
  readonly redirections: readonly ScannedRedirection[];
  readonly hasAssignments: boolean;
}

/** A line of the grammar, its commands in the order of the text. */
export interface ScannedLine {
  readonly commands: readonly ScannedCommand[];
  readonly hasBackground: boolean;
}
