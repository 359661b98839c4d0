import { type DecodedLine, LineDecoder } from "@tau-agent/rpc-protocol";
import type { Logger } from "../../process/logger.ts";
import type { FrameOutput } from "../../process/output.ts";
import type { Shutdown } from "../../process/shutdown.ts";
import { ClientWatch } from "./client-watch.ts";
import { LineSlices } from "./line-slices.ts";
import type { FrameWriter } from "./writer.ts";

export interface StdioProcess {
  readonly input: NodeJS.ReadableStream;
  readonly output: FrameOutput;
  readonly shutdown: Shutdown;
  readonly logger: Logger;
  /** How long the client may send nothing, not even a blank line; unlimited by default. */
  readonly clientTimeoutMs?: number | undefined;
}

export interface LineServer {
  readonly writer: FrameWriter;
  readonly take: (line: DecodedLine) => void;
  /** Whether any line that was taken is not answered yet. */
  readonly owesAnswers: () => boolean;
  readonly begun: () => Promise<void>;
  /** Closes the sessions; called once no more input is read. */
  readonly close: () => Promise<void>;
}

/**
 * Reads lines from stdin. Ends the process when its input or output ends, or on a signal. Every line read
 * before the end of the input is processed.
 */
export function serveLines(
  { input, output, shutdown, logger, clientTimeoutMs }: StdioProcess,
  { writer, take, owesAnswers, begun, close }: LineServer,
): void {
  const decoder = new LineDecoder();
  const takeUntilEnd = (line: DecodedLine): void => {
    if (!shutdown.hasBegun) take(line);
  };
  // Answers that are available at once are sent in one write (row "`get_state` idle").
  const lines = new LineSlices(takeUntilEnd, writer);
  input.on("data", (chunk: Buffer) => lines.push(decoder.push(chunk)));
  if (clientTimeoutMs !== undefined) {
    const watch = new ClientWatch(clientTimeoutMs, () => {
      logger.warn(`The client has sent nothing for ${clientTimeoutMs} ms; the host ends`);
      shutdown.clientDied();
    });
    input.on("data", () => watch.heard());
  }
  input.on("end", () => {
    lines.push(decoder.end());
    void lines
      .idle()
      .then(begun)
      .then(() => shutdown.clientLeft());
  });
  input.on("error", () => shutdown.clientLeft());
  shutdown.owesAnswers = owesAnswers;
  output.onClosed(() => shutdown.clientLeft());
  shutdown.onShutdown(async () => {
    writer.stopWaiting();
    await close();
    await writer.end();
  });
}
