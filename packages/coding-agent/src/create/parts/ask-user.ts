import { askUserTool } from "../../tools/ask-user/definition.ts";
import { createTool } from "../../tools/common/tool-row.ts";
import { isSelected } from "../../tools/tool-selection.ts";
import type { SessionDraft } from "./session-draft.ts";

export function createAskUser(draft: SessionDraft) {
  return createTool(askUserTool, {
    takeAnswers: (toolCallId) => draft.parts.gate.takeAnswers(toolCallId),
  });
}

/** Whether `ask_user` is declared: it is among the session's tools, and somebody can answer. */
export function offersQuestions({ surroundings }: SessionDraft): boolean {
  const { requests, settings, options } = surroundings;
  const { none, only, exclude = [] } = options.tools ?? {};
  const removed = exclude.map((pattern) => `-${pattern}`);
  const patterns = [...(only ?? settings.get("defaultTools") ?? []), ...removed];
  const isWanted = patterns.length === 0 ? only === undefined : isSelected("ask_user", patterns);
  return none !== true && isWanted && requests.isAnswered("question");
}
