import { isJsonObject } from "@tau-agent/rpc-protocol/plain";

const formats = ["gnu", "tsc", "json-lines"] as const;

/** The format in which a command reports problems. */
export type DiagnosticsFormat = (typeof formats)[number];

/** How to check matching files for problems: with a command, or with a language server. */
export type DiagnosticsEntry =
  | {
      /** A glob below the working folder. */
      readonly match: string;
      /** A shell command; `{file}` is replaced by the quoted path. */
      readonly command: string;
      readonly format?: DiagnosticsFormat | undefined;
    }
  | {
      readonly match: string;
      /** The program and its arguments; it speaks LSP on stdin and stdout. */
      readonly server: readonly string[];
      readonly languageId?: string | undefined;
    };

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

/** Whether a value is an entry without unknown members. */
export function isDiagnosticsEntry(value: unknown): value is DiagnosticsEntry {
  if (!isJsonObject(value) || !isText(value.match)) return false;
  const { match: _, command, format, server, languageId, ...others } = value;
  if (Object.keys(others).length > 0) return false;
  if (command !== undefined) {
    const isFormat = format === undefined || formats.some((known) => known === format);
    return isText(command) && isFormat && server === undefined && languageId === undefined;
  }
  const isProgram = Array.isArray(server) && server.length > 0 && server.every(isText);
  return isProgram && format === undefined && (languageId === undefined || isText(languageId));
}
