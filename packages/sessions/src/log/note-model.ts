import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { resumedModel } from "./branch-context.ts";
import type { SessionLog } from "./session-log.ts";

/** Records the model and level with which a branch continues, unless the branch already says so. */
export function noteModel(
  log: SessionLog,
  model: Model | undefined,
  thinkingLevel: ThinkingLevel,
): void {
  const noted = resumedModel(log.tree);
  const isSameModel =
    noted.model?.provider === model?.provider && noted.model?.modelId === model?.id;
  if (model !== undefined && !isSameModel) {
    log.append({ type: "model_change", provider: model.provider, modelId: model.id });
  }
  if (noted.thinkingLevel !== thinkingLevel) {
    log.append({ type: "thinking_level_change", thinkingLevel });
  }
}
