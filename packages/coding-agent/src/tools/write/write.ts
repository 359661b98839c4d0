import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { errorCode, fileError, makeFolder, type ToolEnvironment } from "@tau-agent/system";
import { resolvePath } from "../common/paths.ts";
import type { ReadLedger } from "../common/read-ledger.ts";
import { writeText } from "../common/write-file.ts";
import { refuseOutside } from "../common/write-root.ts";

/** The arguments of the tool, as its row in definition.ts describes them. */
interface WriteArguments {
  readonly path: string;
  readonly content: string;
}

/** Writes a whole file. */
export async function runWriteTool(
  { path, content }: WriteArguments,
  environment: ToolEnvironment & { readonly readLedger: ReadLedger },
  call: ToolCallContext,
): Promise<ToolResult> {
  const file = resolvePath(path, environment);
  if (environment.readLedger.isTruncatedView(file, content)) {
    throw new ToolError(
      `Refused to write ${path}: the content is only the part of it that read had shown, ` +
        "so the rest would be lost. Use edit, or read the whole file first.",
    );
  }
  return environment.fileQueue.run(file, async () => {
    call.signal.throwIfAborted();
    await refuseOutside(file, path, environment);
    await refuseOthers(file, path);
    try {
      // A client that has the files makes their folders, too.
      if (environment.files?.writeText === undefined) await makeFolder(dirname(file));
      await writeText(file, content, environment);
    } catch (error) {
      throw writeError(error, path);
    }
    const text = `Successfully wrote ${Buffer.byteLength(content)} bytes to ${path}`;
    // Above all where the project is in /tmp itself, its neighbours are looked for there.
    const remark =
      environment.sandbox?.isPrivate(file) === true
        ? `. It is in the private temporary folder of this session's sandbox: only this session sees it there, and it goes with the session.`
        : "";
    return { content: [{ type: "text", text: text + remark }] };
  });
}

async function refuseOthers(file: string, shown: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  // Nobody may ever read the other end.
  if (found?.isFIFO() || found?.isSocket()) {
    throw new ToolError(`${shown} is not a regular file. Use bash to write to it.`);
  }
  if (!found?.isDirectory()) return;
  throw new ToolError(`${shown} is a directory, not a file. Add a file name to the path.`);
}

function writeError(error: unknown, shown: string): unknown {
  const code = errorCode(error);
  // From mkdir: a parent of the path is a file.
  if (code !== "EEXIST" && code !== "ENOTDIR") return fileError(error, "write", shown);
  const text = `Cannot write ${shown}: a part of the path is a file, not a directory.`;
  return new ToolError(`${text} Choose another path.`, undefined, { cause: error });
}
