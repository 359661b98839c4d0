import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { formatSize, type TruncationResult, truncateHead } from "@tau-agent/system";

/** The lines of a search or a listing, with notes about them. */
export interface ListOutput {
  readonly lines: readonly string[];
  /** Notes such as "100 matches limit reached", without full stops. */
  readonly notices: readonly string[];
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Creates a result from a list: it limits only the bytes, and puts all notes into one bracket. */
export function listResult({ lines, notices, details = {} }: ListOutput): ToolResult {
  const truncation: TruncationResult = truncateHead(lines.join("\n"), {
    maxLines: Number.MAX_SAFE_INTEGER,
  });
  const limit = `${formatSize(truncation.maxBytes)} limit reached`;
  const all = truncation.truncated ? [...notices, limit] : notices;
  const note = all.length > 0 ? `\n\n[${all.join(". ")}]` : "";
  const allDetails = truncation.truncated ? { truncation, ...details } : details;
  return {
    content: [{ type: "text", text: truncation.content + note }],
    ...(Object.keys(allDetails).length > 0 && { details: allDetails }),
  };
}
