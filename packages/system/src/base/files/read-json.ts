import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic } from "../diagnostic.ts";
import { readTextFileNow, type TextFile } from "./read-text.ts";
import { readTextIn, type WorkspaceFiles } from "./read-text-in.ts";

/** A JSON object from a file, the fact that the file is missing, or the reason why it cannot be used. */
export type JsonFile =
  | { readonly kind: "object"; readonly path: string; readonly value: JsonObject }
  | { readonly kind: "missing"; readonly path: string }
  | {
      readonly kind: "unreadable";
      readonly path: string;
      readonly diagnostic: Diagnostic;
      /** The content, if it could be read. */
      readonly text?: string;
    };

/** Line of `offset` in `text`, from 1. */
function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) {
    line += 1;
  }
  return line;
}

/** Deeper than any file written by hand; deeper values overflow the stack of code that reads or writes them. */
const MAX_DEPTH = 200;

/** Not recursive, or it would overflow the stack itself. */
function isTooDeep(value: unknown): boolean {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 1 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    if (typeof value !== "object" || value === null) continue;
    if (depth > MAX_DEPTH) return true;
    for (const child of Object.values(value)) open.push({ value: child, depth: depth + 1 });
  }
  return false;
}

/** Parses JSON, or JSON with comments and trailing commas; the tolerant parser loads on demand. */
export async function parseJsonText(
  text: string,
): Promise<{ value: unknown } | { reason: string; line: number }> {
  if (text.trim() === "") return { value: {} };
  const parsed = await parsedText(text);
  if ("reason" in parsed || !isTooDeep(parsed.value)) return parsed;
  return tooDeep;
}

const tooDeep = { reason: `nested more than ${MAX_DEPTH} levels deep`, line: 1 };

async function parsedText(
  text: string,
): Promise<{ value: unknown } | { reason: string; line: number }> {
  try {
    return { value: JSON.parse(text) };
  } catch {
    const { parse, printParseErrorCode } = await import("jsonc-parser");
    const errors: { error: number; offset: number; length: number }[] = [];
    let value: unknown;
    try {
      value = parse(text, errors, { allowTrailingComma: true });
    } catch (error) {
      // The parser calls itself for each level.
      if (error instanceof RangeError) return tooDeep;
      throw error;
    }
    const [first] = errors;
    if (first === undefined) return { value: value ?? {} };
    const reason = printParseErrorCode(first.error)
      .replace(/([a-z])([A-Z])/g, "$1 $2")
      .toLowerCase();
    return { reason, line: lineAt(text, first.offset) };
  }
}

/** Larger than any configuration; vendors' lists of models are the largest files. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Reads a JSON object; comments, trailing commas and a byte order mark are allowed. Never rejects. */
export async function readJsonFile(path: string, maxBytes = MAX_BYTES): Promise<JsonFile> {
  return jsonOf(readTextFileNow(path, maxBytes));
}

/**
 * {@link readJsonFile} for a file of a workspace.
 *
 * @throws {WorkspaceError} when the workspace cannot be reached
 */
export async function readJsonIn(
  files: Pick<WorkspaceFiles, "stat" | "read">,
  path: string,
  maxBytes = MAX_BYTES,
): Promise<JsonFile> {
  return jsonOf(await readTextIn(files, path, { maxBytes }));
}

async function jsonOf(file: TextFile): Promise<JsonFile> {
  const { path } = file;
  if (file.kind !== "text") return file;
  const parsed = await parseJsonText(file.text);
  if ("reason" in parsed) {
    const { reason, line } = parsed;
    const message = `${path} is not valid JSON (line ${line}: ${reason}); it is ignored and stays as it is`;
    const diagnostic: Diagnostic = {
      ...{ severity: "error", message, path, line },
      reason: `not valid JSON (${reason}); correct it, or remove the file`,
    };
    return { kind: "unreadable", path, diagnostic, text: file.text };
  }
  if (isJsonObject(parsed.value)) return { kind: "object", path, value: parsed.value };
  const message = `${path} must hold a JSON object; it is ignored and stays as it is`;
  const needed = "it must hold a JSON object";
  const diagnostic: Diagnostic = { severity: "error", message, path, line: 1, reason: needed };
  return { kind: "unreadable", path, diagnostic, text: file.text };
}
