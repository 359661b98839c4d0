/** A problem in a file, as a command or a language server reports it. */
export interface FileProblem {
  /** Relative to the working folder if the file is inside it. */
  readonly file: string;
  /** Lines and columns count from 1. */
  readonly line: number;
  readonly column?: number | undefined;
  readonly severity?: "error" | "warning" | "information" | undefined;
  readonly message: string;
  readonly code?: string | undefined;
}

/** The problems that a change introduced. */
export interface DiagnosedChange {
  /** In the file itself, and in files of earlier calls whose results came late. */
  readonly problems: readonly FileProblem[];
  /** Whether the problems before the change are known. */
  readonly hasBaseline: boolean;
}

/** A check of one file, started before the file changes. */
export interface StartedChange {
  /** Checks again after the change; undefined if there is no result in time. */
  finish(): Promise<DiagnosedChange | undefined>;
}

/** Finds the problems that changes to files introduce. */
export interface FileDiagnosis {
  /** Whether any call needs a check. */
  readonly isOn: boolean;
  /** Checks a file before it changes. */
  begin(path: string): Promise<StartedChange>;
  /** Ends all running checks. */
  close(): Promise<void>;
}
