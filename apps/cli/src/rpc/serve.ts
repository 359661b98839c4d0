import type { AgentSession } from "@tau-agent/coding-agent";
import {
  type CommandFrame,
  type Dialect,
  type ExtensionUiResponse,
  errorText,
  FrameDecoder,
  type HostAnswer,
  type ResponseFrame,
} from "@tau-agent/rpc-protocol";
import { ClientRequests } from "./connection/client-requests.ts";
import { Connection } from "./connection/connection.ts";
import { DiagnosticEvents } from "./connection/diagnostic-events.ts";
import { RunningCommands } from "./connection/running-commands.ts";
import { type StdioProcess, serveLines } from "./connection/serve-lines.ts";
import { FrameWriter } from "./connection/writer.ts";
import { dispatch } from "./dispatch.ts";
import { SingleDrain } from "./drain.ts";
import { NewerClientHint } from "./newer-client.ts";
import type { UiNotices } from "./ui-notices.ts";

/** What the RPC mode is made from. */
export interface ServeOptions extends StdioProcess {
  readonly session: AgentSession;
  /** What the client speaks until it asks for another. */
  readonly dialect: Dialect;
  /** Whether somebody chose the dialect; default true. */
  readonly isDialectChosen?: boolean;
  /** What extensions tell the client. */
  readonly notices: UiNotices;
  /** Called once the first command has been answered. */
  readonly onFirstAnswer: () => void;
  /** How long running work may take when the host drains; 25 s by default. */
  readonly drainTimeoutMs?: number | undefined;
}

/** How long running work may take when a host drains. */
export const DRAIN_TIMEOUT_MS = 25_000;

/** Reads commands and writes responses and events until the input ends or a signal comes. */
export function serve(options: ServeOptions): void {
  const { session, notices, output, shutdown, logger } = options;
  const writer = new FrameWriter(output);
  const connection = new Connection(writer, options.dialect, () => session.nextOrder());
  connection.greet();
  const running = new RunningCommands();
  session.subscribe((...event) => connection.send(...event));
  const requests = new ClientRequests(connection, session.requests);
  notices.attach((notice) => {
    // An open dialog comes with what else is open.
    if (session.requests.get(notice.id) === undefined) connection.ask(notice);
  });
  session.requests.attach(requests);
  const diagnostics = new DiagnosticEvents(session, connection);
  void session.hooks?.begin();
  const drain = new SingleDrain(session, options.drainTimeoutMs ?? DRAIN_TIMEOUT_MS);
  // Without the option, a signal ends the host within seconds.
  if (options.drainTimeoutMs !== undefined) {
    shutdown.beforeTermination(async () => void (await drain.begin()));
  }
  const dispatchOptions = {
    host: { session, connection, requests, drain: () => drain.begin() },
    isDraining: () => drain.hasBegun,
    waiting: new Set<CommandFrame>(),
    onUiResponse: (response: ExtensionUiResponse) => requests.answerDialog(response),
    onHostAnswer: (answer: HostAnswer) => requests.answer(answer),
    onAnswered: ({ name }: CommandFrame) => {
      options.onFirstAnswer();
      if (name !== "initialize") return;
      diagnostics.update();
      requests.repeat();
    },
    onInternalError: (error: unknown) => logger.error("A command failed unexpectedly", error),
  };
  const hint = new NewerClientHint(logger, options.isDialectChosen ?? true);
  const frames = new FrameDecoder((frame) => {
    if (shutdown.hasBegun) return;
    const wait = frame.kind === "command" ? hint.before(frame) : undefined;
    if (wait !== undefined) frames.hold(wait);
    const answer = () => dispatch(frame, dispatchOptions);
    const done = wait === undefined ? answer() : wait.then(answer);
    if (done === undefined) return;
    // A change of dialect comes before whatever follows it.
    if (frame.kind === "command" && frame.name === "initialize") frames.hold(done);
    running.add(done);
  });
  serveLines(options, {
    writer,
    take(line) {
      if ("text" in line) frames.push(line.text);
      else connection.respond(oversizedAnswer(line.oversizedBytes));
    },
    owesAnswers: () => !(running.isEmpty && frames.isIdle),
    begun: () => frames.idle(),
    async close() {
      await running.nearlySettled();
      await session.dispose();
      await running.settled();
    },
  });
}

function oversizedAnswer(bytes: number): ResponseFrame {
  const reason = `the line has ${bytes} bytes, more than the limit`;
  const error = errorText("parse", { reason });
  return { type: "response", command: "parse", success: false, error, code: "parse" };
}
