import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Diagnostic } from "@tau-agent/coding-agent";
import { errorMessage } from "@tau-agent/rpc-protocol";
import { hintFor } from "./command-line-words.ts";

export interface Logger {
  warn(message: string): void;
  error(message: string, error?: unknown): void;
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  diagnostics(diagnostics: readonly Diagnostic[]): void;
}

export interface LoggerOptions {
  /** A file for JSON lines; by default, readable lines go to stderr. */
  readonly file?: string | undefined;
  readonly isVerbose?: boolean | undefined;
}

type Level = "debug" | "warn" | "error";
type Fields = Readonly<Record<string, unknown>>;

/** Creates the logger; its library is loaded with the first line to write. */
export function createLogger(options: LoggerOptions): Logger {
  const { file, isVerbose = false } = options;
  const write = file === undefined ? printLine : writerTo(file, isVerbose);
  const log = (level: Level, message: string, fields: Fields = {}): void => {
    if (level !== "debug" || isVerbose) write(level, message, fields);
  };
  return {
    warn: (message) => log("warn", message),
    error: (message, error) => log("error", message, error === undefined ? {} : { err: error }),
    debug: (message, fields) => log("debug", message, fields),
    diagnostics: (diagnostics) => {
      for (const { severity, code, message, path, line } of diagnostics) {
        const isNamed = path === undefined || message.includes(path);
        const place = isNamed ? "" : `${path}${line === undefined ? "" : `:${line}`}: `;
        log(severity === "error" ? "error" : "warn", `${place}${message}${hintFor(code)}`);
      }
    },
  };
}

function printLine(level: Level, message: string, fields: Fields): void {
  const shown = level === "warn" ? "warning" : level;
  process.stderr.write(`tau: ${shown}: ${message}${detail(fields)}\n`);
}

/** Writes to `file`, or to stderr once that fails: errors of the log file cannot be logged to it. */
function writerTo(file: string, isVerbose: boolean): typeof printLine {
  let loading: Promise<import("pino").Logger> | undefined;
  let isLost = false;
  const lose = (error: unknown): void => {
    const reason = errorMessage(error);
    const message = `The log cannot be written to ${file} and goes on here: ${reason}`;
    if (!isLost) printLine("warn", message, {});
    isLost = true;
  };
  return (level, message, fields) => {
    loading ??= openLog(file, isVerbose, lose);
    void loading
      .then((pino) => (isLost ? undefined : pino[level](fields, message)))
      .catch(lose)
      .then(() => (isLost ? printLine(level, message, fields) : undefined));
  };
}

async function openLog(
  file: string,
  isVerbose: boolean,
  onError: (error: unknown) => void,
): Promise<import("pino").Logger> {
  const { pino, destination } = await import("pino");
  makeFolders(dirname(file));
  // Written synchronously: otherwise, a host that exits could lose lines or fail on a file that is still being opened.
  const target = destination({ dest: file, mode: 0o600, sync: true });
  target.on("error", onError);
  return pino({ level: isVerbose ? "debug" : "warn" }, target);
}

/** Avoids Node's recursive mkdir, which never returns in /proc. */
function makeFolders(folder: string): void {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolders(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another host may have created it in the meantime.
    if (!existsSync(folder)) throw error;
  }
}

function detail(fields: Readonly<Record<string, unknown>>): string {
  const { err, ...rest } = fields;
  const stack = err instanceof Error ? `\n${err.stack ?? err.message}` : "";
  return `${Object.keys(rest).length === 0 ? "" : ` ${JSON.stringify(rest)}`}${stack}`;
}
