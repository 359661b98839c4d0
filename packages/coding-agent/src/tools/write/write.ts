import { type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { isWorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import type { ToolEnvironment } from "@tau-agent/system";
import { fileProblem } from "../common/file-problem.ts";
import { resolvePath } from "../common/paths.ts";
import { isOtherKind } from "../common/read-chunks.ts";
import type { ReadLedger } from "../common/read-ledger.ts";
import { writeText } from "../common/write-text.ts";

interface WriteArguments {
  readonly path: string;
  readonly content: string;
}

export async function runWriteTool(
  { path, content }: WriteArguments,
  environment: ToolEnvironment & { readonly readLedger: ReadLedger },
  call: ToolCallContext,
): Promise<ToolResult> {
  const file = await resolvePath(path, environment);
  if (environment.readLedger.isTruncatedView(file, content)) {
    throw new ToolError(
      `Refused to write ${path}: the content is only the part of it that read had shown, ` +
        "so the rest would be lost. Use edit, or read the whole file first.",
    );
  }
  const write = async () => {
    call.signal.throwIfAborted();
    try {
      await writeText(file, { shown: path, text: content, signal: call.signal }, environment);
    } catch (error) {
      throw await writeProblem(error, { shown: path, file }, environment);
    }
    const text = `Successfully wrote ${Buffer.byteLength(content)} bytes to ${path}`;
    // Needed most if the project itself is in /tmp, because the file is then expected next to it.
    const remark =
      environment.sandbox?.isPrivate(file) === true
        ? `. It is in the private temporary folder of this session's sandbox: only this session sees it there, and it goes with the session.`
        : "";
    return { content: [{ type: "text" as const, text: text + remark }] };
  };
  return environment.fileQueue.run(file, write, environment.workspace.id);
}

async function writeProblem(
  error: unknown,
  { shown, file }: { readonly shown: string; readonly file: string },
  environment: ToolEnvironment,
): Promise<unknown> {
  const options = { cause: error };
  if (isWorkspaceError(error, "is_a_directory")) {
    const text = `${shown} is a directory, not a file. Add a file name to the path.`;
    return new ToolError(text, undefined, options);
  }
  if (isWorkspaceError(error, "not_a_directory", "exists")) {
    const text = `Cannot write ${shown}: a part of the path is a file, not a directory.`;
    return new ToolError(`${text} Choose another path.`, undefined, options);
  }
  if (isWorkspaceError(error, "failed") && (await isOtherKind(error, environment))) {
    const text = `${shown} is not a regular file. Use bash to write to it.`;
    return new ToolError(text, undefined, options);
  }
  return fileProblem(error, { action: "write", shown, file }, environment);
}
