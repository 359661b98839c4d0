/** A path that a call works on: the given path as an absolute one, and the real path. */
export interface CallPath {
  readonly given: string;
  readonly real: string;
  /** For an isolated subagent, the real location of the file, which is judged like the user's own. */
  readonly place?: string | undefined;
  /** Whether an isolated subagent refers to the user's own file instead of its copy, which no rule allows. */
  readonly isOriginal?: boolean | undefined;
}

export interface ToolTraits {
  readonly name: string;
  readonly isReadOnly: boolean;
  /** Whether calls need no question, because they are harmless or what they start is judged separately. */
  readonly isNeverAsked: boolean;
}

/** A part of a call that is judged separately. */
export type Subject =
  /** A call of a tool without a path. */
  | { readonly kind: "call"; readonly tool: ToolTraits }
  /** A call of a tool with a path; several paths if it is uncertain which one the tool uses. */
  | {
      readonly kind: "path";
      readonly tool: ToolTraits;
      readonly paths: readonly CallPath[];
      /** The text shown to a person. */
      readonly text: string;
    }
  /** A call of a tool whose path is a URI that a client serves. */
  | { readonly kind: "uri"; readonly tool: ToolTraits; readonly uri: string }
  /** A call of a tool that visits a host. */
  | { readonly kind: "host"; readonly tool: ToolTraits; readonly host: string }
  /** A command in a shell line. */
  | {
      readonly kind: "command";
      readonly tool: ToolTraits;
      readonly text: string;
      /** The command with only the base name of the program, if it was given by its path. */
      readonly baseText?: string | undefined;
      /** Whether it only starts another command, which is a separate subject. */
      readonly isWrapper: boolean;
    }
  /** A shell line that cannot be judged. */
  | {
      readonly kind: "opaque";
      readonly tool: ToolTraits;
      readonly reason: string;
      /** Shown to a person, but never judged. */
      readonly commands: readonly string[];
    };

/** The folders that patterns are relative to. */
export interface RuleFolders {
  readonly cwd: string;
  /** The real path of the folder. */
  readonly realCwd: string;
  /** The real paths of the folders in which `acceptEdits` allows edits. */
  readonly realRoots: readonly string[];
  readonly homeDirectory: string;
}
