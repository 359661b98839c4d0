/**
 * The real stdout. The program imports this module before all others, so that none of them can write
 * to it.
 */

import { protectTerminal } from "./terminal.ts";

/** What frames are written to; nothing else reaches the real stdout. */
export interface FrameOutput {
  /** Returns false when the reader is behind. */
  write(text: string | Uint8Array, onWritten?: () => void): boolean;
  onDrain(listener: () => void): void;
  /** Calls each listener once the reader is gone; at once when it is. */
  onClosed(listener: () => void): void;
  /** Why writing failed, such as a full disk; a reader that has left is not a failure. */
  readonly failure?: Error | undefined;
}

/** What a write ends with when its reader has left: the pipe, the connection or the terminal is gone. */
const readerHasLeft = new Set(["EPIPE", "ECONNRESET", "ERR_STREAM_DESTROYED", "EIO"]);

/**
 * Whether another program, one that an extension has started, loads parts of this one. It is not a
 * host then, and stdout is not its own.
 */
export const isLibrary: boolean =
  Reflect.get(globalThis, Symbol.for("@tau-agent/library")) === true;

export const output: FrameOutput = takeStdout(!isLibrary);

/**
 * Takes stdout over for frames. From now on whatever else writes to it (a dependency's banner, an
 * extension's `console.log`) lands on stderr.
 */
function takeStdout(isTaken: boolean): FrameOutput {
  const { stdout, stderr } = process;
  if (isTaken) protectTerminal(stdout);
  if (isTaken) protectTerminal(stderr);
  const write = stdout.write.bind(stdout);
  if (isTaken) stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  const listeners: (() => void)[] = [];
  let isClosed = false;
  let failure: Error | undefined;
  const note = (error: NodeJS.ErrnoException): void => {
    if (!readerHasLeft.has(error.code ?? "")) failure ??= error;
  };
  // A reader that has left is not an error, only the end.
  stdout.on("error", (error) => {
    note(error);
    isClosed = true;
    for (const listener of listeners.splice(0)) listener();
  });
  stderr.on("error", () => {});
  return {
    write: (text, onWritten) =>
      write(text, "utf8", (error) => {
        // Called before the `error` event is emitted.
        if (error) note(error);
        onWritten?.();
      }),
    onDrain: (listener) => {
      stdout.once("drain", listener);
    },
    onClosed: (listener) => {
      if (isClosed) listener();
      else listeners.push(listener);
    },
    get failure() {
      return failure;
    },
  };
}
