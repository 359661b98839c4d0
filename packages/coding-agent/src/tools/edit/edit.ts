import { type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { isWorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { describeChange, formatSize, type ToolEnvironment } from "@tau-agent/system";
import { fileProblem } from "../common/file-problem.ts";
import { openExisting, resolvePath } from "../common/paths.ts";
import { isOtherKind, readWhole } from "../common/read-chunks.ts";
import { writeText } from "../common/write-text.ts";
import { applyEdits, type TextEdit } from "./apply-edits.ts";
import { boundedDetails } from "./bounded-details.ts";

const maxFileBytes = 100 * 1024 * 1024;

export interface EditArguments {
  readonly path: string;
  readonly oldText?: string | undefined;
  readonly newText?: string | undefined;
  readonly edits?: readonly TextEdit[] | undefined;
}

export async function runEditTool(
  args: EditArguments,
  environment: ToolEnvironment,
  call: ToolCallContext,
): Promise<ToolResult> {
  const edits = editsOf(args);
  const { path: shown } = args;
  const { signal } = call;
  const edit = async () => {
    const { file, before } = await readExisting(shown, environment, signal);
    const { text: after, notes } = await applyEdits(shown, before, edits);
    const details = boundedDetails(await describeChange(shown, before, after));
    signal.throwIfAborted();
    await writeText(file, { shown, text: after, signal }, environment).catch(async (error) => {
      throw await fileProblem(error, { action: "write", shown, file }, environment);
    });
    const text =
      args.edits === undefined
        ? `Successfully replaced text in ${shown}.`
        : `Successfully replaced ${edits.length} block(s) in ${shown}.`;
    return { content: [{ type: "text" as const, text: [text, ...notes].join(" ") }], details };
  };
  const meant = await resolvePath(shown, environment);
  return environment.fileQueue.run(meant, edit, environment.workspace.id);
}

/** What an edit would change; nothing is written. */
export async function previewEdit(
  args: EditArguments,
  environment: ToolEnvironment,
): Promise<{ readonly file: string; readonly before: string; readonly after: string }> {
  const edits = editsOf(args);
  const { file, before } = await readExisting(args.path, environment);
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

async function readExisting(
  shown: string,
  environment: ToolEnvironment,
  signal?: AbortSignal,
): Promise<{ readonly file: string; readonly before: string }> {
  try {
    return await openExisting(shown, environment, async (file) => {
      environment.sandbox?.refuseWrite(file, shown);
      const bytes = await readWhole(file, environment, { maxBytes: maxFileBytes, signal });
      if (bytes === undefined) throw await tooLarge(file, shown, environment);
      return { file, before: decoded(bytes, shown) };
    });
  } catch (error) {
    if (isWorkspaceError(error, "failed") && (await isOtherKind(error, environment))) {
      const text = `${shown} is not a regular file. Use bash to work with it.`;
      throw new ToolError(text, undefined, { cause: error });
    }
    throw await fileProblem(error, { action: "read", shown }, environment);
  }
}

async function tooLarge(
  file: string,
  shown: string,
  { workspace }: ToolEnvironment,
): Promise<ToolError> {
  const size = formatSize((await workspace.stat(file))?.size ?? maxFileBytes);
  return new ToolError(`${shown} is too large to edit (${size}). Use bash, for example sed.`);
}

function decoded(bytes: Uint8Array, shown: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    const text = `${shown} is not valid UTF-8, so editing it could damage it. Use bash instead.`;
    throw new ToolError(text, undefined, { cause: error });
  }
}
