import { bytesOf, isAt, skipWord, unsure } from "./json-bytes.ts";
import { MemberScan } from "./member-scan.ts";
import { MessageScan } from "./message-scan.ts";
import { TIME_LENGTH, timeAt } from "./scan-time.ts";

const message = bytesOf('"message"');
const nothing = bytesOf("null");

/**
 * Reads the data for the index of a session from the bytes of an entry with a usual message, and makes sure that
 * the line is valid. Everything else is left to `JSON.parse`, even if only one byte is in doubt.
 */
export class EntryScan {
  idStart = 0;
  idEnd = 0;
  /** Both 0 for a root. */
  parentStart = 0;
  parentEnd = 0;
  /** Both 0 for a message that is not a prompt. */
  promptStart = 0;
  promptEnd = 0;
  messageStart = 0;
  messageEnd = 0;
  timeMs = 0;
  readonly message = new MessageScan();
  readonly #members = new MemberScan({
    type: (bytes, at) => (isAt(bytes, at, message) ? at + message.length : unsure),
    id: (bytes, at) => {
      const end = skipWord(bytes, at);
      this.idStart = at + 1;
      this.idEnd = end - 1;
      return end;
    },
    parentId: (bytes, at) => this.#skipParent(bytes, at),
    promptId: (bytes, at) => {
      const end = skipWord(bytes, at);
      this.promptStart = at + 1;
      this.promptEnd = end - 1;
      return end;
    },
    timestamp: (bytes, at) => {
      this.timeMs = timeAt(bytes, at);
      return Number.isNaN(this.timeMs) ? unsure : at + TIME_LENGTH;
    },
    message: (bytes, at) => {
      this.messageStart = at;
      this.messageEnd = this.message.skip(bytes, at);
      return this.messageEnd;
    },
  });
  readonly #needed = this.#members.bits("type", "id", "parentId", "timestamp", "message");

  /**
   * Reads the entry that begins at an index.
   *
   * @param bytes - must end with a line feed
   * @returns the index after the entry, or `unsure`
   */
  scan(bytes: Uint8Array, at: number): number {
    this.promptStart = 0;
    this.promptEnd = 0;
    const end = this.#members.skip(bytes, at);
    return (this.#members.seen & this.#needed) === this.#needed ? end : unsure;
  }

  #skipParent(bytes: Uint8Array, at: number): number {
    if (isAt(bytes, at, nothing)) {
      this.parentStart = 0;
      this.parentEnd = 0;
      return at + nothing.length;
    }
    const end = skipWord(bytes, at);
    this.parentStart = at + 1;
    this.parentEnd = end - 1;
    return end;
  }
}
