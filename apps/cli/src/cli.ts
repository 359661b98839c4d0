// Must be imported first: from here on only frames reach stdout.
import { refuse } from "./command-line/values.ts";
import "./process/output.ts";
import { exportSessionFile } from "@tau-agent/coding-agent";
import type { CliOptions } from "./command-line/cli-options.ts";
import { readHostLine } from "./command-line/read-host-line.ts";
import { settleUnknown } from "./command-line/settle-unknown.ts";
import { serveHost } from "./hosting/serve-host.ts";
import type { Notice } from "./one-shot/one-shot.ts";
import { readEnvironment } from "./process/environment.ts";
import { exit, fail, preparation, prepareProcess } from "./process/host-process.ts";
import type { Logger } from "./process/logger.ts";
import type { FrameOutput } from "./process/output.ts";
import { isLibrary, output } from "./process/output.ts";
import { shownVersion } from "./process/shown-version.ts";
import { Shutdown } from "./process/shutdown.ts";
import { openSession } from "./session/open-session.ts";

if (!isLibrary) void main(output);

async function main(output: FrameOutput): Promise<void> {
  try {
    const given = process.argv.slice(2);
    // An ACP client logs in by running its agent's command line (`tau acp`) with the arguments of the login appended.
    const words = given[0] === "acp" && given[1] === "auth" ? given.slice(1) : given;
    if (/^[^-@]/.test(words[0] ?? "") && (await hasRunSubcommand(words, output))) return;
    const options = readHostLine(words);
    if (options.firstWord !== undefined) {
      const { refuseLateSubcommand } = await import("./commands/run-subcommand.ts");
      refuseLateSubcommand(options);
    }
    await run(options, output);
  } catch (error) {
    fail(error);
  }
}

/** Runs the subcommand that the first word names, if there is one. */
async function hasRunSubcommand(words: readonly string[], output: FrameOutput): Promise<boolean> {
  const { runSubcommand } = await import("./commands/run-subcommand.ts");
  const print = (text: string): void => void output.write(text);
  const context = { output, print, environment: readEnvironment() };
  const outcome = await runSubcommand(words, context);
  if (outcome.kind === "none") return false;
  const { exitCode } = outcome;
  if (exitCode !== undefined) output.write("", () => exit(exitCode));
  return true;
}

async function run(options: CliOptions, output: FrameOutput): Promise<void> {
  const shown = await informationText(options);
  if (shown !== undefined) {
    output.write(shown, () => exit(0));
    return;
  }
  const logger = prepareProcess(options);
  if (options.export !== undefined) {
    // No extension is loaded, so no extension can declare the unknown options.
    settleUnknown(options, new Map());
    return printExport(options.export, options, output);
  }
  if (options.listModels !== undefined) return printModels(options, output, logger);
  const mode = options.mode ?? (isHosting(options) ? "rpc" : "text");
  if (mode !== "rpc" && isHosting(options)) {
    refuse(options.sessions ? "--sessions" : "--listen", "it needs --mode rpc");
  }
  if (mode === "rpc") await startRpc(options, output, logger);
  else await runOneShot(mode, options, output, logger);
}

function isHosting({ sessions, listen }: CliOptions): boolean {
  return sessions === true || listen.length > 0;
}

/** The text of options such as --version, which print something and exit. */
async function informationText(options: CliOptions): Promise<string | undefined> {
  if (options.version) return `${shownVersion(process.argv[1] ?? "")}\n`;
  const isBare =
    options.mode === undefined &&
    !isHosting(options) &&
    !options.print &&
    options.messages.length === 0 &&
    options.unknown.size === 0 &&
    options.listModels === undefined &&
    options.export === undefined;
  if (!options.help && !(isBare && options.files.length === 0 && process.stdin.isTTY)) {
    return undefined;
  }
  const [{ helpOn }, { subcommands }] = await Promise.all([
    import("./commands/help-topics.ts"),
    import("./commands/index.ts"),
  ]);
  return helpOn(subcommands);
}

async function printModels(
  options: CliOptions,
  output: FrameOutput,
  logger: Logger,
): Promise<void> {
  const session = await openSession({ ...options, noSession: true }, logger);
  const { listModels } = await import("./one-shot/list-models.ts");
  const { text, isEmpty } = listModels(await session.models.available(), options.listModels);
  // If models.json is broken, the list is incomplete, which the exit code has to say.
  const problems = await session.models.registry.diagnostics();
  const isWhole = problems.every(({ severity }) => severity !== "error");
  await session.dispose();
  if (isEmpty) process.stderr.write(`tau: error: ${text}`);
  output.write(isEmpty ? "" : text, () => exit(isWhole && !isEmpty ? 0 : 1));
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
    refuse(option, "rpc mode takes prompts from stdin, not from the command line");
  }
  if (options.outputSchema !== undefined) {
    refuse("--output-schema", "in rpc mode, each prompt brings its own outputSchema");
  }
  if (options.trajectoryFile !== undefined) {
    refuse("--trajectory-file", "in rpc mode, the command export_session writes trajectories");
  }
  const shutdown = new Shutdown(exit);
  shutdown.listen();
  const input = process.stdin;
  await serveHost({
    options,
    environment: readEnvironment(),
    logger,
    output,
    input,
    shutdown,
    words: process.argv.slice(2),
    beforeExtensions: preparation(shutdown, options.listen.length > 0 ? undefined : input),
  });
}

async function runOneShot(
  mode: "text" | "json",
  options: CliOptions,
  output: FrameOutput,
  logger: Logger,
): Promise<void> {
  const [{ runJson, runPrint }, { withTrajectory }] = await Promise.all([
    import("./one-shot/one-shot.ts"),
    import("./one-shot/write-trajectory.ts"),
  ]);
  const shutdown = new Shutdown(exit);
  shutdown.listen();
  const beforeExtensions = preparation(shutdown);
  const notices: Notice[] = [];
  const showNotice = (text: string, type: Notice["type"]) => void notices.push({ text, type });
  const session = await openSession(options, logger, { beforeExtensions, showNotice });
  shutdown.onShutdown(() => session.dispose());
  output.onClosed(() => void shutdown.begin(0));
  const input = process.stdin.isTTY ? "" : await readAll(process.stdin, logger);
  // A run ended by a signal or a closed pipe reports no error.
  const warn = (text: string): void => void process.stderr.write(`tau: ${text}\n`);
  const report = (text: string): void => {
    if (!shutdown.hasBegun) warn(text);
  };
  const cwd = process.cwd();
  const task = { session, options, cwd, output, input: input.trim(), report, notices };
  const run = mode === "json" ? runJson(task) : runPrint(task);
  const running = withTrajectory(run, task, warn).catch((error: unknown) => {
    if (shutdown.hasBegun) return 0;
    throw error;
  });
  // A signal ends the run, but its last output and its trajectory still have to be written.
  shutdown.onShutdown(async () => void (await running));
  await shutdown.begin(await running);
}

/** After this time, a notice says that the host is waiting for the piped input to end. */
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
