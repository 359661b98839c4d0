import { ToolError } from "@tau-agent/agent";
import type { KnownSessionEntry, SessionEntry } from "@tau-agent/rpc-protocol";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { isForeign, markForeign } from "../../foreign-text/fence.ts";

import type { EntryReader } from "./entry-reader.ts";

/** The maximum number of characters in one answer. */
const MAX_CHARACTERS = 30_000;

interface ReadEntryArguments {
  readonly entryId: string;
  readonly offset?: number | undefined;
}

/** Returns the output of an earlier call as stored in the session. */
export async function runReadEntryTool(
  { entryId, offset = 0 }: ReadEntryArguments,
  { entry }: EntryReader,
): Promise<ToolResult> {
  const result = resultOf(entry(entryId.trim()));
  if (result === undefined) {
    throw new ToolError(
      `No entry ${entryId} holds the output of a tool. Take the id from a line that says "Cleared".`,
    );
  }
  const { content } = result;
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  const start = Math.max(0, Math.floor(offset));
  if (start > 0 && start >= text.length) {
    throw new ToolError(
      `Offset ${start} is beyond the end: the output has ${text.length} characters.`,
    );
  }
  const images = start === 0 ? content.filter(({ type }) => type === "image") : [];
  const shown: ToolResult = { content: [{ type: "text", text: pageOf(text, start) }, ...images] };
  return isForeign(result.details) ? markForeign(shown) : shown;
}

function resultOf(entry: SessionEntry | undefined): ToolResultMessage | undefined {
  const known = entry as KnownSessionEntry | undefined;
  if (known?.type !== "message" || known.message.role !== "toolResult") return undefined;
  return known.message;
}

/** A page that ends at a line break if possible. */
function pageOf(text: string, start: number): string {
  const most = text.slice(start, start + MAX_CHARACTERS);
  if (start + most.length >= text.length) return most;
  const lineEnd = most.lastIndexOf("\n") + 1;
  // Do not cut a surrogate pair in half.
  const page = lineEnd > 0 ? most.slice(0, lineEnd) : most.replace(/[\uD800-\uDBFF]$/, "");
  const next = start + page.length;
  return `${page}\n[${text.length - next} more characters. Use offset=${next} to continue.]`;
}
