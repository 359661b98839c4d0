import type { Diff, ToolCallContent } from "@agentclientprotocol/sdk";
import type { FileChange } from "@tau-agent/coding-agent";
import { absolutePath, asArguments } from "./describe-call.ts";

/** A change as the client shows it; a new file has no old text. */
export function fileDiff({ file, before, after }: FileChange): ToolCallContent & Diff {
  return { type: "diff", path: file, oldText: before ?? null, newText: after };
}

/**
 * The changes that the arguments of a call name, for a call of the past: what the files were then is not
 * kept.
 */
export function argumentDiffs(toolName: string, args: unknown, cwd: string): ToolCallContent[] {
  const { path, content, oldText, newText, edits } = asArguments(args);
  if (typeof path !== "string") return [];
  const file = absolutePath(path, cwd);
  if (toolName === "write" && typeof content === "string") {
    return [{ type: "diff", path: file, oldText: null, newText: content }];
  }
  if (toolName !== "edit") return [];
  const all: unknown[] = [...(Array.isArray(edits) ? edits : []), { oldText, newText }];
  return all.map(asArguments).flatMap((edit): ToolCallContent[] => {
    if (typeof edit.oldText !== "string" || typeof edit.newText !== "string") return [];
    return [{ type: "diff", path: file, oldText: edit.oldText, newText: edit.newText }];
  });
}
