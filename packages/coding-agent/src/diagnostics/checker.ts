import type { FileProblem } from "@tau-agent/system";

export interface CheckedFile {
  /** Absolute. */
  readonly path: string;
  /** With links resolved, where that is another one. */
  readonly realPath: string;
  readonly text: string;
}

/** What looks for the problems of a file; one for each entry and folder. */
export interface Checker {
  /**
   * The problems of the file; undefined if there is no answer.
   *
   * @param signal ends this check, and no other
   * @throws {Error} why it cannot check
   */
  check(file: CheckedFile, signal: AbortSignal): Promise<readonly FileProblem[] | undefined>;
  close(): Promise<void>;
}
