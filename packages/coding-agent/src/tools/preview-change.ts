import { isWorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { describeChange, type ToolEnvironment } from "@tau-agent/system";
import { resolvePath } from "./common/paths.ts";
import { readWhole } from "./common/read-chunks.ts";
import type { EditArguments } from "./edit/edit.ts";

/** Larger files are not compared, because a person is waiting for the question. */
const MAX_BYTES = 5 * 1024 * 1024;

/** A file before and after a call. */
export interface FileChange {
  /** The absolute path of the file. */
  readonly file: string;
  /** The current text; undefined for a new file. */
  readonly before: string | undefined;
  readonly after: string;
}

/**
 * The change that a call of `edit` or `write` would make; undefined for any other call, and for one that would fail.
 */
export async function changeOf(
  toolName: string,
  input: Readonly<Record<string, unknown>>,
  environment: ToolEnvironment,
): Promise<FileChange | undefined> {
  // Content that a client serves is not compared.
  if (environment.clientUris?.uriOf(String(input.path)) !== undefined) return undefined;
  try {
    if (toolName === "edit") {
      const { previewEdit } = await import("./edit/edit.ts");
      return await previewEdit(input as unknown as EditArguments, environment);
    }
    if (toolName === "write") return await changeOfWrite(input, environment);
  } catch {
    // The tool itself reports the error.
  }
  return undefined;
}

/** The same as a unified diff. */
export async function previewChange(
  toolName: string,
  input: Readonly<Record<string, unknown>>,
  environment: ToolEnvironment,
): Promise<string | undefined> {
  const change = await changeOf(toolName, input, environment);
  if (change === undefined) return undefined;
  const { before = "", after } = change;
  return (await describeChange(String(input.path), before, after)).patch;
}

async function changeOfWrite(
  { path, content }: Readonly<Record<string, unknown>>,
  environment: ToolEnvironment,
): Promise<FileChange | undefined> {
  if (typeof path !== "string" || typeof content !== "string") return undefined;
  const file = await resolvePath(path, environment);
  const current = await currentText(file, environment);
  return current && { file, before: current.text, after: content };
}

/** Undefined if the file cannot be compared; without a `text` if it does not exist yet. */
async function currentText(
  file: string,
  environment: ToolEnvironment,
): Promise<{ readonly text: string | undefined } | undefined> {
  try {
    const bytes = await readWhole(file, environment, { maxBytes: MAX_BYTES });
    return bytes && { text: bytes.toString() };
  } catch (error) {
    return isWorkspaceError(error, "not_found") ? { text: undefined } : undefined;
  }
}
