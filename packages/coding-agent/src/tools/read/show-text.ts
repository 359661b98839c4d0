import { ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { formatSize, maxOutputBytes } from "@tau-agent/system";
import { countArgument } from "../common/schema.ts";
import { createRangeCollector, type TextRange } from "./text-range.ts";

/** Returns the requested lines of a complete text. */
export function showText(
  shown: string,
  text: Buffer,
  { offset, limit }: { readonly offset?: number | undefined; readonly limit?: number | undefined },
): ToolResult {
  const firstLine = countArgument(offset) ?? 1;
  const collector = createRangeCollector(
    firstLine,
    countArgument(limit) ?? Number.MAX_SAFE_INTEGER,
  );
  collector.add(text);
  return textResult(shown, firstLine, collector.finish());
}

/** Lines for the model, with a notice about what is not shown. */
export function textResult(shown: string, firstLine: number, range: TextRange): ToolResult {
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
