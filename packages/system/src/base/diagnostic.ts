/**
 * A problem that stopped nothing but that the user should know of. Libraries collect these, hosts
 * show them.
 */
export interface Diagnostic {
  readonly severity: "warning" | "error";
  readonly message: string;
  /** What kind of problem it is, where programs should know. */
  readonly code?: string;
  /** The file it is about. */
  readonly path?: string;
  /** Line in `path`, from 1. */
  readonly line?: number;
  /** What in the file or the list it is about, such as `retry.maxRetries`. */
  readonly member?: string;
  /** The problem alone, without the file and what became of it. */
  readonly reason?: string;
  /**
   * Set if it must stop the start: what the user named is not there, or is in the project only, which
   * is `untrusted`.
   */
  readonly isFatal?: true | "untrusted";
}
