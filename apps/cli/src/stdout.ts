/** What frames are written to; nothing else reaches the real stdout. */
export interface FrameOutput {
  /** Returns false when the reader is behind. */
  write(text: string, onWritten?: () => void): boolean;
  onDrain(listener: () => void): void;
  /** Calls each listener once the reader is gone; at once when it is. */
  onClosed(listener: () => void): void;
}

/**
 * Takes stdout over for frames. From now on whatever else writes to it (a dependency's banner, an
 * extension's `console.log`) lands on stderr.
 */
export function takeStdout(): FrameOutput {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  const listeners: (() => void)[] = [];
  let isClosed = false;
  // A reader that has gone away is no error of ours, only the end.
  stdout.on("error", () => {
    isClosed = true;
    for (const listener of listeners.splice(0)) listener();
  });
  stderr.on("error", () => {});
  return {
    write: (text, onWritten) => write(text, "utf8", () => onWritten?.()),
    onDrain: (listener) => {
      stdout.once("drain", listener);
    },
    onClosed: (listener) => {
      if (isClosed) listener();
      else listeners.push(listener);
    },
  };
}
