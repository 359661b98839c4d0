import { commandLineText } from "./command-line-words.ts";
import { exitCodeOf } from "./exit-codes.ts";
import { createLogger, type Logger } from "./logger.ts";
import { output } from "./output.ts";
import type { Shutdown } from "./shutdown.ts";

interface LogOptions {
  readonly logFile?: string;
  readonly verbose?: boolean;
}

export function prepareProcess(options: LogOptions): Logger {
  const logger = createLogger({ file: options.logFile, isVerbose: options.verbose });
  guard(logger);
  process.env.PI_CODING_AGENT = "true";
  process.env.AI_AGENT = "tau";
  return logger;
}

/** Ends the process. If output could not be written, the exit code is not 0. */
export function exit(code: number): never {
  if (output.failure === undefined || code !== 0) process.exit(code);
  process.stderr.write(`tau: error: cannot write to stdout: ${output.failure.message}\n`);
  process.exit(1);
}

/**
 * Ends the process because of a usage error or a failed start. Prints no stack trace, which would not help the user.
 */
export function fail(error: unknown): never {
  const failure = error instanceof Error ? error : new Error(String(error), { cause: error });
  process.stderr.write(`tau: error: ${commandLineText(failure)}\n`);
  process.exit(exitCodeOf(error));
}

/** Must run once before third-party code runs in this process. */
export function preparation(
  shutdown: Shutdown,
  input?: NodeJS.ReadableStream,
): () => Promise<void> {
  let prepared: Promise<void> | undefined;
  const prepare = async () => {
    const { protectStdio } = await import("./child-stdio.ts");
    protectStdio();
    await shutdown.watch(input);
  };
  return () => {
    prepared ??= prepare();
    return prepared;
  };
}

/** An unhandled rejection is logged; it must neither end the host nor go unnoticed. */
function guard(logger: Logger): void {
  process.on("uncaughtException", (error) => logger.error("Uncaught exception", error));
  process.on("unhandledRejection", (error) => logger.error("Unhandled rejection", error));
}
