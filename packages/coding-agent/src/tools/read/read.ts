import { type FileHandle, stat } from "node:fs/promises";
import { type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import {
  detectImageType,
  type FileAccess,
  fileError,
  formatSize,
  maxOutputBytes,
  openRegularFile,
  readSmallFile,
  type ToolEnvironment,
} from "@tau-agent/system";
import { resolveExistingPath } from "../common/paths.ts";
import type { ReadLedger } from "../common/read-ledger.ts";
import { countArgument } from "../common/schema.ts";
import { readImage } from "./read-image.ts";
import { readTextRange, type TextRange, textRangeOf } from "./text-range.ts";

type ReadEnvironment = ToolEnvironment & { readonly readLedger: ReadLedger };

/** The arguments of the tool, as its row in definition.ts describes them. */
interface ReadArguments {
  readonly path: string;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

/** Shows a text file or an image. */
export async function runReadTool(
  args: ReadArguments,
  environment: ReadEnvironment,
  call: ToolCallContext,
): Promise<ToolResult> {
  const path = resolveExistingPath(args.path, environment);
  let file: FileHandle | undefined;
  try {
    const firstLine = countArgument(args.offset) ?? 1;
    const lineCount = countArgument(args.limit) ?? Number.MAX_SAFE_INTEGER;
    const readText = environment.files?.readText;
    const foreign = readText && (await readElsewhere(path, readText, call.signal));
    const { sandbox } = environment;
    const check = sandbox && ((opened: number) => sandbox.refuseOpened(opened, args.path));
    const small = foreign ?? readSmallFile(path, check);
    let range: TextRange;
    if (foreign !== undefined) range = textRangeOf(foreign, { firstLine, lineCount });
    else if (small !== undefined && detectImageType(small.subarray(0, headBytes)) === undefined) {
      range = textRangeOf(small, { firstLine, lineCount });
    } else {
      file = await openFile(path, args.path, check);
      const start = Buffer.alloc(headBytes);
      const { bytesRead } = await file.read(start, 0, start.length, 0);
      const type = detectImageType(start.subarray(0, bytesRead));
      if (type !== undefined) return await readImage(file, args.path, environment);
      range = await readTextRange(file, { firstLine, lineCount, signal: call.signal });
    }
    const result = textResult(args.path, firstLine, range);
    const isAll = firstLine === 1 && range.truncation.outputLines >= range.fileLines;
    environment.readLedger.note(path, isAll ? undefined : range.truncation.content);
    return result;
  } catch (error) {
    throw fileError(error, "read", args.path);
  } finally {
    await file?.close();
  }
}

/**
 * The text of a file that somebody else has, where there is such. Only texts are had that way: an
 * image is read from the disk.
 */
async function readElsewhere(
  path: string,
  readText: NonNullable<FileAccess["readText"]>,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const file = await openRegularFile(path).catch(() => undefined);
  try {
    const start = Buffer.alloc(headBytes);
    const { bytesRead = 0 } = (await file?.read(start, 0, start.length, 0)) ?? {};
    if (detectImageType(start.subarray(0, bytesRead)) !== undefined) return undefined;
  } finally {
    await file?.close();
  }
  return Buffer.from(await readText(path, signal));
}

/** How much of a file tells whether it is an image. */
const headBytes = 64;

async function openFile(
  path: string,
  shown: string,
  check: ((opened: number) => void) | undefined,
): Promise<FileHandle> {
  const found = await stat(path);
  if (found.isDirectory()) {
    throw new ToolError(`${shown} is a directory, not a file. Use ls to list it.`);
  }
  // Opening a pipe or a terminal could block forever.
  const file = found.isFile() ? await openRegularFile(path, check) : undefined;
  if (file !== undefined) return file;
  throw new ToolError(`${shown} is not a regular file. Use bash to read from it.`);
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
