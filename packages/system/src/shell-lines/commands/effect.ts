import type { ShellWord } from "../line/shell-word.ts";

/** A command as it was found: in the line, or among the words of another one. */
export interface FoundCommand {
  readonly words: readonly ShellWord[];
  /** `xargs` adds more words at the end. */
  readonly isContinued?: boolean;
}

/** The words of a command in which the program that starts it replaces a text by another. */
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
  /** It does nothing else but to run the commands below. */
  readonly isWrapper?: boolean;
  /** Why it cannot be understood. */
  readonly reason?: string | undefined;
  readonly commands?: readonly FoundCommand[];
  readonly line?: ShellWord | undefined;
  /** It changes the working folder. */
  readonly moves?: boolean;
  /** It sets variables. */
  readonly assigns?: boolean;
}

export function unknownEffect(name: string): CommandEffect {
  return { reason: `${name} is used in a way that cannot be followed` };
}
