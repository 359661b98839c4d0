import type { AgentSession } from "@tau-agent/coding-agent";
import {
  type DecodedLine,
  type ExtensionUiResponse,
  encodeLine,
  errorText,
  FrameDecoder,
  LineDecoder,
} from "@tau-agent/rpc-protocol";
import type { Logger } from "../logger.ts";
import type { Shutdown } from "../shutdown.ts";
import type { FrameOutput } from "../stdout.ts";
import { Connection } from "./connection.ts";
import { dispatch } from "./dispatch.ts";
import type { UiRequests } from "./ui-requests.ts";
import { FrameWriter } from "./writer.ts";

/** What the RPC mode is made from. */
export interface ServeOptions {
  readonly session: AgentSession;
  /** What extensions ask the client. */
  readonly requests: UiRequests;
  readonly input: NodeJS.ReadableStream;
  readonly output: FrameOutput;
  readonly shutdown: Shutdown;
  readonly logger: Logger;
}

/** Reads commands and writes responses and events until the input ends or a signal comes. */
export function serve(options: ServeOptions): void {
  const { session, requests, input, output, shutdown, logger } = options;
  const writer = new FrameWriter(output);
  const connection = new Connection(writer);
  const decoder = new LineDecoder();
  const running = new Set<Promise<void>>();
  session.subscribe((event) => connection.send(event));
  requests.attach((request) => void writer.write(encodeLine(request)));
  void session.hooks?.begin();
  const dispatchOptions = {
    host: { session, connection },
    onUiResponse: (response: ExtensionUiResponse) => session.hooks?.answer(response),
    onInternalError: (error: unknown) => logger.error("A command failed unexpectedly", error),
  };
  const frames = new FrameDecoder((frame) => {
    const done = shutdown.hasBegun ? undefined : dispatch(frame, dispatchOptions);
    if (done === undefined) return;
    running.add(done);
    void done.finally(() => running.delete(done));
  });
  const take = (lines: Iterable<DecodedLine>): void => {
    for (const line of lines) {
      if ("text" in line) frames.push(line.text);
      else void writer.write(oversizedAnswer(line.oversizedBytes, connection.isInitialized));
    }
  };
  input.on("data", (chunk: Buffer) => {
    if (!shutdown.hasBegun) take(decoder.push(chunk));
  });
  input.on("end", () => {
    if (!shutdown.hasBegun) take(decoder.end());
    void frames.idle().then(() => shutdown.begin(0));
  });
  input.on("error", () => void shutdown.begin(0));
  output.onClosed(() => void shutdown.begin(0));
  shutdown.onShutdown(async () => {
    writer.stopWaiting();
    await session.dispose();
    await Promise.all(running);
    await writer.end();
  });
}

function oversizedAnswer(bytes: number, hasCode: boolean): string {
  const reason = `the line has ${bytes} bytes, more than the limit`;
  const error = errorText("parse", { reason });
  return encodeLine({
    type: "response",
    command: "parse",
    success: false,
    error,
    ...(hasCode ? { code: "parse" } : {}),
  });
}
