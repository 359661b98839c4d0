import { appendsTools } from "@tau-agent/ai";
import { loadedToolsEntry } from "@tau-agent/sessions/log";
import type { OfferedTools } from "../../jobs/session-jobs.ts";
import { createTool } from "../../tools/common/tool-row.ts";
import { toolSearchTool } from "../../tools/tool-search/definition.ts";
import type { SessionDraft } from "./session-draft.ts";

export function createToolSearch(draft: SessionDraft) {
  const tools = () => draft.parts.inputs.tools;
  return createTool(toolSearchTool, {
    get deferred() {
      return tools().deferred;
    },
    get areCalledByName() {
      return areCalledByName(draft);
    },
    isLoaded: (name) => tools().isLoaded(name),
    load: (names) => loadTools(draft, names),
  });
}

/** Makes tools available to the model from its next request on, including after a reopen. */
function loadTools(draft: SessionDraft, names: readonly string[]): void {
  const { tools } = draft.parts.inputs;
  const fresh = names.filter((name) => !tools.isLoaded(name));
  if (fresh.length === 0) return;
  // Written first, so that a reopened session has the tools as well.
  draft.parts.conversation.append(loadedToolsEntry(fresh));
  tools.load(fresh);
}

/** Makes on-demand tools available to the model, if the session has them. */
export function offerTools(draft: SessionDraft, wanted: ReadonlySet<string>): OfferedTools {
  const { callable } = draft.parts.inputs.tools;
  const names = [...wanted].filter((name) => callable.some((tool) => tool.name === name));
  loadTools(draft, names);
  return { names, areCalledByName: areCalledByName(draft) };
}

/** Whether the current model uses `call_tool` for loaded tools. */
function areCalledByName({ parts }: SessionDraft): boolean {
  const { model } = parts.models;
  return model !== undefined && !appendsTools(model);
}
