// First of all: from here on nothing but frames reaches stdout.
import "./process/output.ts";
import { createAgentSession, exportSessionFile, McpPool } from "@tau-agent/coding-agent";
import { ProtocolError } from "@tau-agent/rpc-protocol";
import { type CliOptions, parseArgs } from "./command-line/args.ts";
import { milliseconds } from "./command-line/hosting-flags.ts";
import { refuseSubcommand } from "./command-line/subcommands.ts";
import { commandLineText } from "./process/command-line-words.ts";
import { type ProcessEnvironment, readEnvironment } from "./process/environment.ts";
import { createLogger, type Logger } from "./process/logger.ts";
import type { FrameOutput } from "./process/output.ts";
import { isLibrary, output } from "./process/output.ts";
import { Shutdown } from "./process/shutdown.ts";
import { PI_CLIENT_VERSION, PI_VERSION, VERSION } from "./process/version.ts";
import { chooseDialect } from "./rpc/choose-dialect.ts";
import { serve } from "./rpc/serve.ts";
import { UiNotices } from "./rpc/ui-notices.ts";
import { type ExtensionSeams, sessionOptions } from "./session/session-options.ts";

if (!isLibrary) void main(output);

async function main(output: FrameOutput): Promise<void> {
  try {
    const words = process.argv.slice(2);
    if (words[0] === "conformance") {
      const { conformance } = await import("@tau-agent/conformance");
      exit(await conformance(words.slice(1), output));
    }
    if (words[0] === "rewind") {
      const { rewindCommand } = await import("./session/rewind-command.ts");
      const { text, exitCode } = await rewindCommand(words.slice(1), readEnvironment());
      output.write(text, () => exit(exitCode));
      return;
    }
    if (words[0] === "mcp") {
      const { mcpCommand } = await import("./mcp/mcp-command.ts");
      exit(await mcpCommand(words.slice(1), output));
    }
    const isAcp = words[0] === "acp" && words[1] !== "auth";
    // A client runs its agent's command line with a login's words behind it.
    const options = parseArgs(words[0] === "acp" ? words.slice(1) : words);
    if (isAcp) await startAcp(options, output);
    else {
      refuseSubcommand(options);
      await run(options, output);
    }
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error), { cause: error });
    const { message, stack } = failure;
    const text = "code" in failure ? commandLineText(failure) : (stack ?? message);
    process.stderr.write(`tau: error: ${text}\n`);
    process.exit(1);
  }
}

async function run(options: CliOptions, output: FrameOutput): Promise<void> {
  const shown = await informationText(options);
  if (shown !== undefined) {
    output.write(shown, () => exit(0));
    return;
  }
  const logger = prepareProcess(options);
  if (options.export !== undefined) return printExport(options.export, options, output);
  if (options.listModels !== undefined) return printModels(options, output, logger);
  const mode = options.mode ?? (isHosting(options) ? "rpc" : "text");
  if (mode !== "rpc" && isHosting(options)) {
    const option = options.sessions ? "--sessions" : "--listen";
    throw new ProtocolError("invalid_option", { option, reason: "it needs --mode rpc" });
  }
  if (mode === "rpc") await startRpc(options, output, logger);
  else await runOneShot(mode, options, output, logger);
}

/** Whether the host has several sessions or connections. */
function isHosting({ sessions, listen }: CliOptions): boolean {
  return sessions === true || listen.length > 0;
}

/** What a host sets up before it opens sessions. */
function prepareProcess(options: CliOptions): Logger {
  const logger = createLogger({ file: options.logFile, isVerbose: options.verbose });
  guard(logger);
  process.env.PI_CODING_AGENT = "true";
  process.env.AI_AGENT = "tau";
  return logger;
}

/** Ends the process. If output could not be written, the exit code is not 0. */
function exit(code: number): never {
  if (output.failure === undefined || code !== 0) process.exit(code);
  process.stderr.write(`tau: error: cannot write to stdout: ${output.failure.message}\n`);
  process.exit(1);
}

/** What only shows something and ends. */
async function informationText(options: CliOptions): Promise<string | undefined> {
  if (options.version) return `${versionOf(process.argv[1] ?? "")}\n`;
  const isBare =
    options.mode === undefined &&
    !isHosting(options) &&
    !options.print &&
    options.messages.length === 0 &&
    options.borrowed.length === 0 &&
    options.listModels === undefined &&
    options.export === undefined;
  if (!options.help && !(isBare && options.files.length === 0 && process.stdin.isTTY)) {
    return undefined;
  }
  const { helpText } = await import("./command-line/help.ts");
  return helpText();
}

async function printModels(
  options: CliOptions,
  output: FrameOutput,
  logger: Logger,
): Promise<void> {
  const session = await openSession({ ...options, noSession: true }, logger);
  const { listModels } = await import("./one-shot/list-models.ts");
  const text = listModels(await session.models.available(), options.listModels);
  // A list without what a broken models.json holds is not the list that was asked for.
  const problems = await session.models.registry.diagnostics();
  const isWhole = problems.every(({ severity }) => severity !== "error");
  await session.dispose();
  output.write(text, () => exit(isWhole ? 0 : 1));
}

async function printExport(
  file: string,
  { messages: [outputPath] }: CliOptions,
  output: FrameOutput,
): Promise<void> {
  const path = await exportSessionFile(file, { cwd: process.cwd(), outputPath });
  output.write(`${path}\n`, () => exit(0));
}

async function startRpc(options: CliOptions, output: FrameOutput, logger: Logger): Promise<void> {
  if (options.files.length > 0 || options.messages.length > 0) {
    const option =
      options.files[0] === undefined ? String(options.messages[0]) : `@${options.files[0]}`;
    throw new ProtocolError("invalid_option", {
      option,
      reason: "rpc mode takes prompts from stdin, not from the command line",
    });
  }
  if (options.outputSchema !== undefined) {
    const reason = "in rpc mode, each prompt brings its own outputSchema";
    throw new ProtocolError("invalid_option", { option: "--output-schema", reason });
  }
  const shutdown = new Shutdown(exit);
  shutdown.listen();
  if (isHosting(options)) {
    return startHosting(options, output, { logger, shutdown });
  }
  const drainTimeoutMs = milliseconds("--drain-timeout-ms", options.drainTimeoutMs);
  const notices = new UiNotices();
  const { promise: clientReady, resolve: onFirstAnswer } = Promise.withResolvers<void>();
  const [dialect, session] = await Promise.all([
    chooseDialect(options.protocol, process.env),
    openSession(options, logger, {
      sendUiRequest: (request) => notices.send(request),
      onShutdown: () => void shutdown.begin(0),
      clientReady,
      beforeExtensions: preparation(shutdown, process.stdin),
    }),
  ]);
  const input = process.stdin;
  const surroundings = { input, output, shutdown, logger };
  serve({ session, dialect, notices, onFirstAnswer, ...surroundings, drainTimeoutMs });
}

/** A host with several sessions or connections. */
async function startHosting(
  options: CliOptions,
  output: FrameOutput,
  { logger, shutdown }: { readonly logger: Logger; readonly shutdown: Shutdown },
): Promise<void> {
  const { serveHosted } = await import("./hosting/serve-hosted.ts");
  const input = process.stdin;
  const beforeExtensions = preparation(shutdown, options.listen.length > 0 ? undefined : input);
  const environment = readEnvironment();
  await serveHosted({
    options,
    environment,
    dialect: await chooseDialect(options.protocol, process.env),
    output,
    input,
    shutdown,
    logger,
    words: process.argv.slice(2),
    beforeExtensions,
    mcpPool: new McpPool(),
    openOnly: (seams) => openSession(options, logger, { ...seams, beforeExtensions }, environment),
  });
}

/** An editor's agent: many sessions, which the editor opens. */
async function startAcp(options: CliOptions, output: FrameOutput): Promise<void> {
  if (options.help || options.version) return run(options, output);
  const logger = prepareProcess(options);
  const { runAcp } = await import("./acp/acp.ts");
  const shutdown = new Shutdown(exit);
  shutdown.listen();
  const input = process.stdin;
  const beforeExtensions = preparation(shutdown, input);
  const environment = readEnvironment();
  runAcp({ options, environment, input, output, shutdown, logger, beforeExtensions });
}

async function runOneShot(
  mode: "text" | "json",
  options: CliOptions,
  output: FrameOutput,
  logger: Logger,
): Promise<void> {
  const { runJson, runPrint } = await import("./one-shot/one-shot.ts");
  const shutdown = new Shutdown(exit);
  shutdown.listen();
  const beforeExtensions = preparation(shutdown);
  const session = await openSession(options, logger, { beforeExtensions });
  shutdown.onShutdown(() => session.dispose());
  output.onClosed(() => void shutdown.begin(0));
  const input = process.stdin.isTTY ? "" : await readAll(process.stdin, logger);
  // A run that was told to end, by a signal or by a reader that left, has nothing to complain of.
  const report = (text: string): void => {
    if (!shutdown.hasBegun) process.stderr.write(`tau: ${text}\n`);
  };
  const task = { session, options, cwd: process.cwd(), output, input: input.trim(), report };
  const running = (mode === "json" ? runJson(task) : runPrint(task)).catch((error: unknown) => {
    if (shutdown.hasBegun) return 0;
    throw error;
  });
  // A signal ends the run, but must not cut off what is still to be said about it.
  shutdown.onShutdown(async () => void (await running));
  await shutdown.begin(await running);
}

/** What has to be done once before code of others runs in this process. */
function preparation(shutdown: Shutdown, input?: NodeJS.ReadableStream): () => Promise<void> {
  let prepared: Promise<void> | undefined;
  const prepare = async () => {
    const { protectStdio } = await import("./process/child-stdio.ts");
    protectStdio();
    await shutdown.watch(input);
  };
  return () => {
    prepared ??= prepare();
    return prepared;
  };
}

async function openSession(
  options: CliOptions,
  logger: Logger,
  seams: ExtensionSeams = {},
  environment: ProcessEnvironment = readEnvironment(),
) {
  const session = await createAgentSession(await sessionOptions(options, environment, seams));
  if (/^[a-z]+:\/\/[^/?#]*:[^/?#]*@/i.test(options.store ?? "")) {
    logger.warn("--store contains a password, which the list of processes shows; use TAU_STORE");
  }
  logger.diagnostics(session.diagnostics);
  session.onDiagnostic((diagnostic) => logger.diagnostics([diagnostic]));
  return session;
}

/** The version as the caller reads it: a client of pi, an extension that starts pi, or a user. */
function versionOf(program: string): string {
  if (/(^|[/\\])pi(\.js)?$/.test(program)) return PI_CLIENT_VERSION;
  if (/[/\\]pi-coding-agent[/\\]dist[/\\]cli\.js$/.test(program)) return PI_VERSION;
  return VERSION;
}

/** After this time, a notice says that the host waits for the end of the piped input. */
const PIPE_NOTICE_MS = 3000;

async function readAll(input: NodeJS.ReadableStream, logger: Logger): Promise<string> {
  const notice = setTimeout(() => {
    logger.warn("Waiting for the end of piped input; close stdin, or start with </dev/null");
  }, PIPE_NOTICE_MS);
  const pieces: Buffer[] = [];
  for await (const piece of input) pieces.push(Buffer.from(piece));
  clearTimeout(notice);
  return Buffer.concat(pieces).toString("utf8");
}

/** A stray rejection is logged; it must neither end the host nor go unseen. */
function guard(logger: Logger): void {
  process.on("uncaughtException", (error) => logger.error("Uncaught exception", error));
  process.on("unhandledRejection", (error) => logger.error("Unhandled rejection", error));
}
