/** A problem of a file, as a command or a language server reports it. */
export interface FileProblem {
  /** Relative to the working folder, if it is in there. */
  readonly file: string;
  /** Lines and columns count from 1. */
  readonly line: number;
  readonly column?: number | undefined;
  readonly severity?: "error" | "warning" | "information" | undefined;
  readonly message: string;
  readonly code?: string | undefined;
}

/** What a change has brought. */
export interface DiagnosedChange {
  /** Of the file, and of files of earlier calls whose answers came late. */
  readonly problems: readonly FileProblem[];
  /** Whether it is known what was there before. */
  readonly hasBaseline: boolean;
}

/** The look at one file before its change. */
export interface StartedChange {
  /** After the change; undefined if nothing is known in time. */
  finish(): Promise<DiagnosedChange | undefined>;
}

/** Looks for the problems that changes of files bring. */
export interface FileDiagnosis {
  /** Whether any call needs a look. */
  readonly isOn: boolean;
  /** Looks at a file before it is changed. */
  begin(path: string): Promise<StartedChange>;
  /** Ends all that runs. */
  close(): Promise<void>;
}
