/** What frames are written to; nothing else reaches the real stdout. */
export interface FrameOutput {
  /** Returns false when the reader is behind. */
  write(text: string, onWritten?: () => void): boolean;
  onDrain(listener: () => void): void;
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
  let onClosed: () => void = () => {};
  // A reader that has gone away is no error of ours, only the end.
  stdout.on("error", () => onClosed());
  stderr.on("error", () => {});
  return {
    write: (text, onWritten) => write(text, "utf8", () => onWritten?.()),
    onDrain: (listener) => {
      stdout.once("drain", listener);
    },
    onClosed: (listener) => {
      onClosed = listener;
    },
  };
}
