import { createTool } from "../../tools/common/tool-row.ts";
import { readEntryTool } from "../../tools/read-entry/definition.ts";
import type { SessionDraft } from "./session-draft.ts";

/** The tool that shows results that requests no longer contain. */
export function createReadEntry(draft: SessionDraft) {
  return createTool(readEntryTool, {
    entry: (id) => draft.parts.conversation.log.tree.get(id),
  });
}
