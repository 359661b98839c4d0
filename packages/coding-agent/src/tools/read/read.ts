import { type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { isWorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { detectImageType, type ToolEnvironment } from "@tau-agent/system";
import { fileProblem } from "../common/file-problem.ts";
import { openExisting } from "../common/paths.ts";
import { chunkBytesOf, isOtherKind, readChunks } from "../common/read-chunks.ts";
import type { ReadLedger } from "../common/read-ledger.ts";
import { countArgument } from "../common/schema.ts";
import { readImage } from "./read-image.ts";
import { textResult } from "./show-text.ts";
import { createRangeCollector } from "./text-range.ts";

type ReadEnvironment = ToolEnvironment & { readonly readLedger: ReadLedger };

interface ReadArguments {
  readonly path: string;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  readonly pages?: string | undefined;
}

/** How many bytes of a file are read to detect an image. */
const headBytes = 64;

export async function runReadTool(
  args: ReadArguments,
  given: ReadEnvironment,
  call: ToolCallContext,
): Promise<ToolResult> {
  const own = await given.ownTexts?.(args.path);
  const environment = own === undefined ? given : { ...given, ...own };
  try {
    return await openExisting(args.path, environment, (path) =>
      readFile(path, args, environment, call),
    );
  } catch (error) {
    throw await problemOf(error, args.path, environment);
  }
}

async function readFile(
  path: string,
  args: ReadArguments,
  environment: ReadEnvironment,
  { signal }: ToolCallContext,
): Promise<ToolResult> {
  const firstLine = countArgument(args.offset) ?? 1;
  const lineCount = countArgument(args.limit) ?? Number.MAX_SAFE_INTEGER;
  const collector = createRangeCollector(firstLine, lineCount);
  let isFirst = true;
  for await (const chunk of readChunks(path, environment, signal)) {
    const isImage = isFirst && detectImageType(chunk.subarray(0, headBytes)) !== undefined;
    const isPdf = isFirst && chunk.subarray(0, 5).toString("latin1") === "%PDF-";
    if (isImage || isPdf) {
      const isWhole = chunk.length < chunkBytesOf(environment.workspace);
      const file = { shown: args.path, start: chunk, isWhole, signal };
      if (isImage) return readImage(path, file, environment);
      const { readPdf } = await import("./read-pdf.ts");
      return readPdf(path, { ...file, pages: args.pages }, environment);
    }
    isFirst = false;
    collector.add(chunk);
  }
  const range = collector.finish();
  const result = textResult(args.path, firstLine, range);
  const isAll = firstLine === 1 && range.truncation.outputLines >= range.fileLines;
  environment.readLedger.note(path, isAll ? undefined : range.truncation.content);
  return result;
}

async function problemOf(error: unknown, shown: string, environment: ToolEnvironment) {
  if (isWorkspaceError(error, "failed") && (await isOtherKind(error, environment))) {
    return new ToolError(`${shown} is not a regular file. Use bash to read from it.`);
  }
  return fileProblem(error, { action: "read", shown }, environment);
}
