/** A file for output of any size. */
export interface OutputFile {
  readonly path: string;
  /** Why the file is incomplete; undefined if it is complete. */
  readonly failure: Error | undefined;
  /**
   * Takes ownership of a chunk and queues it; the promise, if any, resolves when the file has caught up. Never fails.
   */
  write(chunk: Buffer): Promise<void> | undefined;
  /** Resolves once everything is written or lost. */
  close(): Promise<void>;
}
