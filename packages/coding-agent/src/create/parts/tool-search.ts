import { loadedToolsEntry } from "@tau-agent/sessions/log";
import { createTool } from "../../tools/common/tool-row.ts";
import { toolSearchTool } from "../../tools/tool-search/definition.ts";
import type { SessionDraft } from "./session-draft.ts";

/** The tool that finds the deferred ones of a session. */
export function createToolSearch(draft: SessionDraft) {
  const tools = () => draft.parts.inputs.tools;
  return createTool(toolSearchTool, {
    get deferred() {
      return tools().deferred;
    },
    isLoaded: (name) => tools().isLoaded(name),
    load: (names) => {
      // Written first, so that a reopened session has the tools, too.
      draft.parts.conversation.append(loadedToolsEntry(names));
      tools().load(names);
    },
  });
}
