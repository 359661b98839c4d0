import type { FileProblem } from "@tau-agent/system";

export interface CheckedFile {
  /** Absolute. */
  readonly path: string;
  /** With links resolved; may equal {@link path}. */
  readonly realPath: string;
  readonly text: string;
}

/** Checks files for problems; one for each entry and folder. */
export interface Checker {
  /**
   * The problems of the file; undefined if there is no answer.
   *
   * @param signal - cancels this check only
   * @throws {Error} with the reason why it cannot check
   */
  check(file: CheckedFile, signal: AbortSignal): Promise<readonly FileProblem[] | undefined>;
  close(): Promise<void>;
}
