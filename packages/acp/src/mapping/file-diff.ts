import type { Diff, ToolCallContent, ToolCallLocation } from "@agentclientprotocol/sdk";
import type { FileChange } from "@tau-agent/coding-agent";
import { absolutePath, asArguments } from "./describe-call.ts";

const LINE_FEED = 10;

/** A change as a diff for the client; a new file has no old text. */
export function fileDiff({ file, before, after }: FileChange): ToolCallContent & Diff {
  return { type: "diff", path: file, oldText: before ?? null, newText: after };
}

/** The location of a change: the first line that differs, so that an editor can follow. */
export function changedPlace({ file, before = "", after }: FileChange): ToolCallLocation {
  const length = Math.min(before.length, after.length);
  let at = 0;
  let line = 1;
  while (at < length && before.charCodeAt(at) === after.charCodeAt(at)) {
    if (before.charCodeAt(at) === LINE_FEED) line += 1;
    at += 1;
  }
  return { path: file, line };
}

/** The changes that the arguments of a past call describe: the earlier content of the files is not kept. */
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
