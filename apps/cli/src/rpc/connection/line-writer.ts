import type { ReaderState } from "./delta-merger.ts";

/** Takes the lines of one client. */
export interface LineWriter extends ReaderState {
  /**
   * Queues a line, which must end in a line feed; a promise while the sender should wait.
   *
   * @param isAnswer - whether the client has asked for it
   */
  write(line: string, isAnswer?: boolean): void | Promise<void>;
}
