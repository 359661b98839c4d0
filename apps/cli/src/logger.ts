import type { Diagnostic } from "@tau-agent/coding-agent";

/** Where the host says what is no frame. */
export interface Logger {
  warn(message: string): void;
  error(message: string, error?: unknown): void;
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Shows what was found wrong with files. */
  diagnostics(diagnostics: readonly Diagnostic[]): void;
}

/** Where and how much to log. */
export interface LoggerOptions {
  /** A file for JSON lines; default readable lines on stderr. */
  readonly file?: string | undefined;
  readonly isVerbose?: boolean | undefined;
}

/** Makes the logger; its library is loaded with the first line there is to write. */
export function createLogger(options: LoggerOptions): Logger {
  let loading: Promise<import("pino").Logger> | undefined;
  const log = (
    level: "debug" | "warn" | "error",
    message: string,
    fields: Readonly<Record<string, unknown>> = {},
  ): void => {
    if (level === "debug" && !options.isVerbose) return;
    if (options.file === undefined) {
      process.stderr.write(
        `tau: ${level === "warn" ? "warning" : level}: ${message}${detail(fields)}\n`,
      );
      return;
    }
    loading ??= openLog(options.file, options.isVerbose ?? false);
    void loading.then((pino) => pino[level](fields, message));
  };
  return {
    warn: (message) => log("warn", message),
    error: (message, error) => log("error", message, error === undefined ? {} : { err: error }),
    debug: (message, fields) => log("debug", message, fields),
    diagnostics: (diagnostics) => {
      for (const { severity, message, path, line } of diagnostics) {
        const isNamed = path === undefined || message.includes(path);
        const place = isNamed ? "" : `${path}${line === undefined ? "" : `:${line}`}: `;
        log(severity === "error" ? "error" : "warn", `${place}${message}`);
      }
    },
  };
}

async function openLog(file: string, isVerbose: boolean): Promise<import("pino").Logger> {
  const { pino, destination } = await import("pino");
  return pino(
    { level: isVerbose ? "debug" : "warn" },
    destination({ dest: file, mkdir: true, mode: 0o600 }),
  );
}

function detail(fields: Readonly<Record<string, unknown>>): string {
  const { err, ...rest } = fields;
  const stack = err instanceof Error ? `\n${err.stack ?? err.message}` : "";
  return `${Object.keys(rest).length === 0 ? "" : ` ${JSON.stringify(rest)}`}${stack}`;
}
