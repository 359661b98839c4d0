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

/** Reads `path` as UTF-8 without a byte order mark. Never rejects. */
export async function readTextFile(path: string): Promise<TextFile> {
  try {
    const text = await readFile(path, "utf8");
    return { kind: "text", path, text: text.startsWith("\uFEFF") ? text.slice(1) : text };
  } catch (error) {
    if (missingCodes.has(errorCode(error))) return { kind: "missing", path };
    const message = `Could not read ${path}: ${errorMessage(error)}`;
    return { kind: "unreadable", path, diagnostic: { severity: "error", message, path } };
  }
}
