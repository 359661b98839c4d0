import type { ReaderState } from "./delta-merger.ts";

/** A line with its line feed; a long one in pieces, of which some are bytes of UTF-8 that nobody has to read. */
export type EncodedLine = string | readonly (string | Uint8Array)[];

export function lineText(line: EncodedLine): string {
  if (typeof line === "string") return line;
  const bytes = line.map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece));
  return Buffer.concat(bytes).toString();
}

export interface LineWriter extends ReaderState {
  /**
   * Queues a line, which must end in a line feed; a promise while the sender should wait.
   *
   * @param isAnswer - whether the client has asked for it
   */
  write(line: EncodedLine, isAnswer?: boolean): void | Promise<void>;
}
