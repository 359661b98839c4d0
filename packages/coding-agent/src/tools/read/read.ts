import { type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { isWorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import {
  detectImageType,
  formatSize,
  maxOutputBytes,
  type ToolEnvironment,
} from "@tau-agent/system";
import { fileProblem } from "../common/file-problem.ts";
import { openExisting } from "../common/paths.ts";
import { chunkBytesOf, isOtherKind, readChunks } from "../common/read-chunks.ts";
import type { ReadLedger } from "../common/read-ledger.ts";
import { countArgument } from "../common/schema.ts";
import { readImage } from "./read-image.ts";
import { RangeCollector, type TextRange } from "./text-range.ts";

type ReadEnvironment = ToolEnvironment & { readonly readLedger: ReadLedger };

/** The arguments of the tool, as its row in definition.ts describes them. */
interface ReadArguments {
  readonly path: string;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  readonly pages?: string | undefined;
}

/** How much of a file tells whether it is an image. */
const headBytes = 64;

/** Shows a text file, an image or a PDF. */
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
  const collector = new RangeCollector(firstLine, lineCount);
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

function textResult(shown: string, firstLine: number, range: TextRange): ToolResult {
  const { truncation, fileLines } = range;
  if (firstLine > Math.max(1, fileLines)) {
    throw new ToolError(
      `Offset ${firstLine} is beyond end of file (${fileLines} lines total). Use an offset of at most ${Math.max(1, fileLines)}.`,
    );
  }
  if (range.isBinary) {
    throw new ToolError(
      `${shown} is a binary file, not text. Use bash to inspect it, for example: file, xxd, strings.`,
    );
  }
  const text = textWithNotice(shown, firstLine, range);
  return {
    content: [{ type: "text", text }],
    ...(truncation.truncated && { details: { truncation } }),
  };
}

function textWithNotice(shown: string, firstLine: number, range: TextRange): string {
  const { truncation, fileLines, firstLineBytes } = range;
  const limit = formatSize(maxOutputBytes);
  if (truncation.firstLineExceedsLimit) {
    const size = formatSize(firstLineBytes);
    return `[Line ${firstLine} is ${size}, exceeds ${limit} limit. Use bash: sed -n '${firstLine}p' ${shown} | head -c ${maxOutputBytes}]`;
  }
  if (fileLines === 0) return "(empty file)";
  const lastLine = firstLine + truncation.outputLines - 1;
  const next = lastLine + 1;
  if (truncation.truncated && next <= fileLines) {
    const reason = truncation.truncatedBy === "bytes" ? ` (${limit} limit)` : "";
    return `${truncation.content}\n\n[Showing lines ${firstLine}-${lastLine} of ${fileLines}${reason}. Use offset=${next} to continue.]`;
  }
  if (next > fileLines) return truncation.content;
  return `${truncation.content}\n\n[${fileLines - lastLine} more lines in file. Use offset=${next} to continue.]`;
}
