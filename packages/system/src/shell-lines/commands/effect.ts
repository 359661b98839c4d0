import type { ShellWord } from "../line/shell-word.ts";

/** A command found in the line itself, or among the words of another command. */
export interface FoundCommand {
  readonly words: readonly ShellWord[];
  /** `xargs` adds more words at the end. */
  readonly isContinued?: boolean;
}

/** The words of a command in which the program that starts it replaces a placeholder. */
export function filledIn(words: readonly ShellWord[], placeholder: string): readonly ShellWord[] {
  return words.map((word) =>
    word.text.includes(placeholder)
      ? {
          ...word,
          isLiteral: false,
          isOpen: word.isOpen || word.text.startsWith(placeholder),
          maySplit: true,
        }
      : word,
  );
}

export interface CommandEffect {
  /** The command only runs the commands below. */
  readonly isWrapper?: boolean;
  /** Why the command cannot be understood. */
  readonly reason?: string | undefined;
  readonly commands?: readonly FoundCommand[];
  readonly line?: ShellWord | undefined;
  /** The command changes the working folder. */
  readonly moves?: boolean;
  /** The command sets variables. */
  readonly assigns?: boolean;
}

export function unknownEffect(name: string): CommandEffect {
  return { reason: `${name} is used in a way that cannot be followed` };
}
