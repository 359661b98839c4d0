import type { ReaderState } from "./delta-merger.ts";

/**
 * A line with its line feed; a long line as pieces, some of which are UTF-8 bytes that are passed on without decoding.
 */
export type EncodedLine = string | readonly (string | Uint8Array)[];

export function lineText(line: EncodedLine): string {
  if (typeof line === "string") return line;
  const bytes = line.map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece));
  return Buffer.concat(bytes).toString();
}

export interface LineWriter extends ReaderState {
  /**
   * Queues a line, which must end in a line feed; returns a promise while the sender should wait.
   *
   * @param isAnswer - whether the client has asked for it
   */
  write(line: EncodedLine, isAnswer?: boolean): void | Promise<void>;
}
