import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { buildSessionContext } from "./session/session-context.ts";
import type { SessionLog } from "./session/session-log.ts";

/** Writes down which model and level a branch goes on with; nothing when it says so already. */
export function noteModel(
  log: SessionLog,
  model: Model | undefined,
  thinkingLevel: ThinkingLevel,
): void {
  const context = buildSessionContext(log.tree.branch());
  const isSameModel =
    context.model?.provider === model?.provider && context.model?.modelId === model?.id;
  if (model !== undefined && !isSameModel) {
    log.append({ type: "model_change", provider: model.provider, modelId: model.id });
  }
  if (context.thinkingLevel !== thinkingLevel) {
    log.append({ type: "thinking_level_change", thinkingLevel });
  }
}
