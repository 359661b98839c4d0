import { isJsonObject } from "@tau-agent/rpc-protocol/plain";

const formats = ["gnu", "tsc", "json-lines"] as const;

/** How a command writes the problems that it finds. */
export type DiagnosticsFormat = (typeof formats)[number];

/** What looks for problems in the files that match: a command, or a language server. */
export type DiagnosticsEntry =
  | {
      /** A glob below the working folder. */
      readonly match: string;
      /** A line for the shell; `{file}` in it is the quoted path. */
      readonly command: string;
      readonly format?: DiagnosticsFormat | undefined;
    }
  | {
      readonly match: string;
      /** The program and its arguments, which speaks LSP on stdin and stdout. */
      readonly server: readonly string[];
      readonly languageId?: string | undefined;
    };

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

/** Whether a value is an entry, with no members but those. */
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
