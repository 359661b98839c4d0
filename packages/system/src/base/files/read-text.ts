import { readFileSync, type Stats, statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import type { Diagnostic } from "../diagnostic.ts";
import { errorCode } from "./error-code.ts";
import { systemReason } from "./system-reason.ts";

/** A file's text, the fact that it is missing, or the reason why it could not be read. */
export type TextFile =
  | { readonly kind: "text"; readonly path: string; readonly text: string }
  | { readonly kind: "missing"; readonly path: string }
  | { readonly kind: "unreadable"; readonly path: string; readonly diagnostic: Diagnostic };

/** Larger than any configuration or text for a model. */
export const MAX_TEXT_BYTES = 64 * 1024 * 1024;

const missingCodes = new Set(["ENOENT", "ENOTDIR"]);

/** A text without its byte order mark. */
export function textFile(path: string, text: string): TextFile {
  return { kind: "text", path, text: text.startsWith("\uFEFF") ? text.slice(1) : text };
}

function failed(path: string, error: unknown): TextFile {
  if (missingCodes.has(errorCode(error) ?? "")) return { kind: "missing", path };
  return unreadable(path, systemReason(error));
}

export function unreadable(path: string, reason: string): TextFile {
  const message = `Could not read ${path}: ${reason}`;
  const diagnostic: Diagnostic = {
    ...{ severity: "error", message, path },
    reason: `it could not be read: ${reason}`,
  };
  return { kind: "unreadable", path, diagnostic };
}

/** Reading a pipe or a device, which a project may link to, might never end. */
function problemOf(stats: Stats, maxBytes: number): string | undefined {
  if (!stats.isFile()) return stats.isDirectory() ? "it is a folder" : "it is not a regular file";
  return stats.size > maxBytes ? largerThan(maxBytes) : undefined;
}

export function largerThan(maxBytes: number): string {
  return `it is larger than ${maxBytes / 1024 / 1024} MiB`;
}

/** Reads `path` as UTF-8 without a byte order mark. Never rejects. */
export async function readTextFile(path: string): Promise<TextFile> {
  try {
    const problem = problemOf(await stat(path), MAX_TEXT_BYTES);
    if (problem !== undefined) return unreadable(path, problem);
    return textFile(path, await readFile(path, "utf8"));
  } catch (error) {
    return failed(path, error);
  }
}

/**
 * {@link readTextFile}, synchronous: for the few small files that a start reads, where the thread pool only adds time.
 */
export function readTextFileNow(path: string, maxBytes = MAX_TEXT_BYTES): TextFile {
  try {
    // A thrown error costs more than everything else here, and most settings files are missing.
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return { kind: "missing", path };
    const problem = problemOf(stats, maxBytes);
    if (problem !== undefined) return unreadable(path, problem);
    return textFile(path, readFileSync(path, "utf8"));
  } catch (error) {
    return failed(path, error);
  }
}
