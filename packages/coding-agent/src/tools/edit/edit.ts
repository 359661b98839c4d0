import { readFile, stat } from "node:fs/promises";
import { type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import {
  describeChange,
  fileError,
  formatSize,
  openRegularFile,
  type ToolEnvironment,
} from "@tau-agent/system";
import { resolveExistingPath } from "../common/paths.ts";
import { writeText } from "../common/write-file.ts";
import { refuseOutside } from "../common/write-root.ts";
import { applyEdits, type TextEdit } from "./apply-edits.ts";
import { boundedDetails } from "./bounded-details.ts";

const maxFileBytes = 100 * 1024 * 1024;

/** The arguments of the tool, as its row in definition.ts describes them. */
export interface EditArguments {
  readonly path: string;
  readonly oldText?: string | undefined;
  readonly newText?: string | undefined;
  readonly edits?: readonly TextEdit[] | undefined;
}

/** Replaces texts in a file. */
export async function runEditTool(
  args: EditArguments,
  environment: ToolEnvironment,
  call: ToolCallContext,
): Promise<ToolResult> {
  const edits = editsOf(args);
  const file = resolveExistingPath(args.path, environment);
  return environment.fileQueue.run(file, async () => {
    await refuseOutside(file, args.path, environment);
    const before = await readText(file, args.path, environment);
    const { text: after, notes } = await applyEdits(args.path, before, edits);
    const details = boundedDetails(await describeChange(args.path, before, after));
    call.signal.throwIfAborted();
    await writeText(file, after, environment).catch((error: unknown) => {
      throw fileError(error, "write", args.path);
    });
    const text =
      args.edits === undefined
        ? `Successfully replaced text in ${args.path}.`
        : `Successfully replaced ${edits.length} block(s) in ${args.path}.`;
    return { content: [{ type: "text", text: [text, ...notes].join(" ") }], details };
  });
}

/** What an edit would change; nothing is written. */
export async function previewEdit(
  args: EditArguments,
  environment: ToolEnvironment,
): Promise<{ readonly file: string; readonly before: string; readonly after: string }> {
  const edits = editsOf(args);
  const file = resolveExistingPath(args.path, environment);
  const before = await readText(file, args.path, environment);
  const { text: after } = await applyEdits(args.path, before, edits);
  return { file, before, after };
}

function editsOf({ oldText, newText, edits = [] }: EditArguments): TextEdit[] {
  const all: TextEdit[] = [...edits];
  if (oldText !== undefined || newText !== undefined) {
    if (oldText === undefined || newText === undefined) {
      const missing = oldText === undefined ? "oldText" : "newText";
      throw new ToolError(`${missing} is missing. Give oldText and newText, or edits.`);
    }
    all.push({ oldText, newText });
  }
  if (all.length > 0) return all;
  throw new ToolError("Nothing to do. Give oldText and newText, or at least one entry in edits.");
}

async function readText(
  file: string,
  shown: string,
  { files, sandbox }: ToolEnvironment,
): Promise<string> {
  if (files?.readText !== undefined) return files.readText(file);
  const bytes = await readBytes(file, shown, sandbox);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    const text = `${shown} is not valid UTF-8, so editing it could damage it. Use bash instead.`;
    throw new ToolError(text, undefined, { cause: error });
  }
}

async function readBytes(
  file: string,
  shown: string,
  sandbox: ToolEnvironment["sandbox"],
): Promise<Buffer> {
  try {
    const found = await stat(file);
    if (!found.isFile() && !found.isDirectory()) {
      throw new ToolError(`${shown} is not a regular file. Use bash to work with it.`);
    }
    if (found.size > maxFileBytes) {
      const size = formatSize(found.size);
      throw new ToolError(`${shown} is too large to edit (${size}). Use bash, for example sed.`);
    }
    const check = sandbox && ((opened: number) => sandbox.refuseOpened(opened, shown));
    const handle = await openRegularFile(file, check);
    // Reading a directory is an error with a text of its own.
    if (handle === undefined) return await readFile(file);
    return await handle.readFile().finally(() => handle.close());
  } catch (error) {
    throw fileError(error, "read", shown);
  }
}
