/**
 * A problem that did not stop the work but that the user should know about. Libraries collect these, hosts show them.
 */
export interface Diagnostic {
  readonly severity: "warning" | "error";
  readonly message: string;
  /** The kind of problem, where programs need to tell it apart. */
  readonly code?: string;
  /** The file with the problem. */
  readonly path?: string;
  /** Line in `path`, from 1. */
  readonly line?: number;
  /** The affected member of the file or list, such as `retry.maxRetries`. */
  readonly member?: string;
  /** The problem alone, without the file and the consequences. */
  readonly reason?: string;
  /**
   * Set if the host must not start: something that the user named is missing, or exists only in the
   * project, which is `untrusted`.
   */
  readonly isFatal?: true | "untrusted";
}
