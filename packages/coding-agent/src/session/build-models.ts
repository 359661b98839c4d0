import { AnsweringModel, ModelSelection } from "@tau-agent/models";
import { fallbackEntry, resumedModel } from "@tau-agent/sessions/log";
import { contextTokens, countedContextTokens } from "../compaction/estimate.ts";
import type { SessionInputs } from "./session-inputs.ts";
import type { SessionParts } from "./session-parts.ts";

export function buildModels(
  inputs: SessionInputs,
  { emit, problems }: Pick<SessionParts, "emit" | "problems">,
  later: () => SessionParts,
): Pick<SessionParts, "models" | "answering"> {
  const conversation = () => later().conversation;
  const models: ModelSelection = new ModelSelection({
    ...inputs,
    onModelChange: (model, source) => {
      conversation().append({ type: "model_change", provider: model.provider, modelId: model.id });
      inputs.hooks?.noteModel(model, models.model, source);
      later().retry.hasten();
    },
    onThinkingLevelChange: (level) => {
      conversation().append({ type: "thinking_level_change", thinkingLevel: level });
      void emit({ type: "thinking_level_changed", level });
    },
    onChosen: () => answering.reset(),
  });
  const answering = new AnsweringModel({
    ...inputs,
    models,
    emit,
    noted: () => resumedModel(conversation().log.tree).fallback,
    note: ({ chosen, to, failedAt, ...details }) =>
      void conversation().append(fallbackEntry({ chosen, to, failedAt }, details)),
    requestTokens: async () => {
      const { messages } = conversation();
      const isCounted = countedContextTokens(messages) !== null;
      return contextTokens(messages) + (isCounted ? 0 : await later().requests.setupTokens());
    },
    roomOf: (model) => later().compaction.roomOf(model),
    onDiagnostic: (diagnostic) => problems.noteOnce(diagnostic),
  });
  return { models, answering };
}
