interface CommandPart {
  readonly kind: "command";
  /** The words without quotes, joined by one space; assignments before the command are left out. */
  readonly text: string;
  /** The first word: a name, or the path of a program. */
  readonly name: string;
  /**
   * The command only starts another command, which is the next part (`env`, `timeout`, `sh -c`).
   * `sudo`, `xargs` and `find` are not marked: they change what the other command does.
   */
  readonly isWrapper?: true;
}

export interface WritePart {
  readonly kind: "write";
  /** As written, without quotes; `~/` at the start is the home directory, `./~` is not. */
  readonly path: string;
}

export type ShellPart = CommandPart | WritePart;

export type ShellLine =
  | { readonly understood: true; readonly parts: readonly ShellPart[] }
  | {
      readonly understood: false;
      /** Why, as a clause: `it has a command substitution`. */
      readonly reason: string;
      /** Commands to show to a person, as written; the list may be incomplete. */
      readonly commands: readonly string[];
    };
