/** A log of its own within a stored session: what a subagent writes into its file is also here. */
export interface SessionPart {
  /** Opens it in another host with the same store, like the id of a session. */
  readonly reference: string;
  /** Whether the subagent's file was found on this machine. */
  readonly hasFile: boolean;
  /**
   * Fulfilled once the store has what the subagent's file has.
   *
   * @param path - the file, once it is known
   */
  catchUp(path: string | undefined): Promise<void>;
  /** Stores lines of a subagent whose file is on another machine; known ones are left out. */
  add(lines: readonly object[]): Promise<void>;
  /** Gives the lease back. */
  close(): Promise<void>;
}
