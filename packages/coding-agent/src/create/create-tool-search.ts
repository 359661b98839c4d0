import { type Conversation, loadedToolsEntry } from "@tau-agent/sessions/log";
import { createTool } from "../tools/common/tool-row.ts";
import { toolSearchTool } from "../tools/tool-search/definition.ts";
import type { ToolSet } from "../tools/tool-set.ts";

/** The tool that finds the deferred ones of a session. */
export function createToolSearch(
  session: () => {
    readonly tools: ToolSet;
    readonly conversation: Pick<Conversation, "append">;
  },
) {
  return createTool(toolSearchTool, {
    get deferred() {
      return session().tools.deferred;
    },
    isLoaded: (name) => session().tools.isLoaded(name),
    load: (names) => {
      const { tools, conversation } = session();
      // Written first, so that a reopened session has the tools, too.
      conversation.append(loadedToolsEntry(names));
      tools.load(names);
    },
  });
}
