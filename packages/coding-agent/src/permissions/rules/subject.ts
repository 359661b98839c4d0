/** A path that a call works on: as given made absolute, and with all links resolved. */
export interface CallPath {
  readonly given: string;
  readonly real: string;
  /** Where the file of an isolated subagent really is, which is judged as the user's own. */
  readonly place?: string | undefined;
  /** An isolated subagent means the user's own file and not its copy: no rule allows that. */
  readonly isOriginal?: boolean | undefined;
}

export interface ToolTraits {
  readonly name: string;
  readonly isReadOnly: boolean;
  /** It is harmless, or what it starts is judged by itself. */
  readonly isNeverAsked: boolean;
}

/** One thing a call does that is judged by itself. */
export type Subject =
  /** The call of a tool without a path. */
  | { readonly kind: "call"; readonly tool: ToolTraits }
  /** The call of a tool with a path; several where it is not sure which one the tool means. */
  | {
      readonly kind: "path";
      readonly tool: ToolTraits;
      readonly paths: readonly CallPath[];
      /** As shown to a person. */
      readonly text: string;
    }
  /** The call of a tool whose path is a URI that a client serves. */
  | { readonly kind: "uri"; readonly tool: ToolTraits; readonly uri: string }
  /** The call of a tool that visits a host. */
  | { readonly kind: "host"; readonly tool: ToolTraits; readonly host: string }
  /** A command of a shell line. */
  | {
      readonly kind: "command";
      readonly tool: ToolTraits;
      readonly text: string;
      /** With the base name of a program given by its path, where it is. */
      readonly baseText?: string | undefined;
      /** It only starts another command, which is a subject of its own. */
      readonly isWrapper: boolean;
    }
  /** A shell line that is not understood. */
  | {
      readonly kind: "opaque";
      readonly tool: ToolTraits;
      readonly reason: string;
      /** As shown to a person; never judged. */
      readonly commands: readonly string[];
    };

/** The folders that patterns start from. */
export interface RuleFolders {
  readonly cwd: string;
  /** The same with all links resolved. */
  readonly realCwd: string;
  /** The folders in which `acceptEdits` lets files be edited, with all links resolved. */
  readonly realRoots: readonly string[];
  readonly homeDirectory: string;
}
