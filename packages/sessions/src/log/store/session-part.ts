/** A separate log within a stored session, with a copy of what a subagent writes to its file. */
export interface SessionPart {
  /** Opens the log in another host with the same store, like the id of a session. */
  readonly reference: string;
  /** Whether the subagent's file was found on this machine. */
  readonly hasFile: boolean;
  /**
   * Fulfilled once the store has everything in the subagent's file.
   *
   * @param path - the file, once it is known
   */
  catchUp(path: string | undefined): Promise<void>;
  /** Stores lines of a subagent whose file is on another machine; lines already stored are skipped. */
  add(lines: readonly object[]): Promise<void>;
  /** Releases the lease. */
  close(): Promise<void>;
}
