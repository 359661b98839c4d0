import { showControls, writeControls } from "./terminal.ts";

/** Shorter work shows nothing, because a printed line stays, unlike a spinner. */
const SPINNER_AFTER_MS = 300;
const LINE_AFTER_MS = 1000;
const FRAME_MS = 100;
const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const clearLine = "\r\u001b[K";

/**
 * Shows on stderr that work is in progress: a spinner with the elapsed seconds on a terminal, otherwise one line.
 *
 * @param what - such as `Installing npm:thing`
 */
export async function showingProgress<Result>(
  what: string,
  work: () => Promise<Result>,
  stream: Pick<NodeJS.WriteStream, "write" | "isTTY"> = process.stderr,
): Promise<Result> {
  const begun = performance.now();
  let count = 0;
  const show = (): void => {
    if (!stream.isTTY) {
      stream.write(`tau: ${what} …\n`);
      return;
    }
    const seconds = Math.floor((performance.now() - begun) / 1000);
    const frame = frames[count % frames.length];
    writeControls(stream, `${clearLine}${frame} ${showControls(what)} … ${seconds} s`);
    count += 1;
    timer = setTimeout(show, FRAME_MS);
  };
  let timer = setTimeout(show, stream.isTTY ? SPINNER_AFTER_MS : LINE_AFTER_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    if (count > 0) writeControls(stream, clearLine);
  }
}
