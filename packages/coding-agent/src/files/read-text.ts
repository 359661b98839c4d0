import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Diagnostic } from "../diagnostic.ts";

/** A file's text, the fact that it is not there, or why it could not be read. */
export type TextFile =
  | { readonly kind: "text"; readonly path: string; readonly text: string }
  | { readonly kind: "missing"; readonly path: string }
  | { readonly kind: "unreadable"; readonly path: string; readonly diagnostic: Diagnostic };

const missingCodes = new Set(["ENOENT", "ENOTDIR"]);

/** The `code` of a file system error, or an empty string. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** The message of anything thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function found(path: string, text: string): TextFile {
  return { kind: "text", path, text: text.startsWith("\uFEFF") ? text.slice(1) : text };
}

function failed(path: string, error: unknown): TextFile {
  if (missingCodes.has(errorCode(error))) return { kind: "missing", path };
  const message = `Could not read ${path}: ${errorMessage(error)}`;
  return { kind: "unreadable", path, diagnostic: { severity: "error", message, path } };
}

/** Reads `path` as UTF-8 without a byte order mark. Never rejects. */
export async function readTextFile(path: string): Promise<TextFile> {
  try {
    return found(path, await readFile(path, "utf8"));
  } catch (error) {
    return failed(path, error);
  }
}

/** {@link readTextFile} for the few small files of a start, where a thread pool costs more than it gives. */
export function readTextFileNow(path: string): TextFile {
  try {
    return found(path, readFileSync(path, "utf8"));
  } catch (error) {
    return failed(path, error);
  }
}
