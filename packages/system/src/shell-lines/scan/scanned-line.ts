import type { ShellWord } from "../line/shell-word.ts";

/** A redirection of a simple command. */
export interface ScannedRedirection {
  /** Without the number of a descriptor: `>`, `>>`, `>|`, `>&`, `<`, `<&`, `<>`. */
  readonly operator: string;
  readonly target: ShellWord;
}

export interface ScannedCommand {
  /** Empty where there are redirections only. */
  readonly words: readonly ShellWord[];
  readonly redirections: readonly ScannedRedirection[];
  /** Variables are set before it. */
  readonly hasAssignments: boolean;
}

/** A line of the grammar, its commands in the order of the text. */
export interface ScannedLine {
  readonly commands: readonly ScannedCommand[];
  /** Some of it runs in the background. */
  readonly hasBackground: boolean;
}
