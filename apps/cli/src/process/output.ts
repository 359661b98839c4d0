/** The real stdout. The program imports this module first, so that no other module can write to stdout. */

import { protectTerminal } from "./terminal.ts";

/** The output for frames; nothing else reaches the real stdout. */
export interface FrameOutput {
  /** Returns false when the reader is behind. */
  write(text: string | Uint8Array, onWritten?: () => void): boolean;
  onDrain(listener: () => void): void;
  /** Registers a listener that is called once the reader is gone, or at once if it already is. */
  onClosed(listener: () => void): void;
  /** Why writing failed, such as a full disk; a closed reader is not a failure. */
  readonly failure?: Error | undefined;
}

/** The error codes of a write after the pipe, the connection or the terminal was closed. */
const readerHasLeft = new Set(["EPIPE", "ECONNRESET", "ERR_STREAM_DESTROYED", "EIO"]);

/**
 * Whether another program, started by an extension, has loaded parts of this one as a library. This process
 * is then not a host and does not own stdout.
 */
export const isLibrary: boolean =
  Reflect.get(globalThis, Symbol.for("@tau-agent/library")) === true;

export const output: FrameOutput = takeStdout(!isLibrary);

/**
 * Reserves stdout for frames. From now on, everything else written to it (a dependency's banner, an
 * extension's `console.log`) goes to stderr.
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
  // A closed reader is not an error, only the end.
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
