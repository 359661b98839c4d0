import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import type { SettingsStore } from "@tau-agent/system";

export interface ThinkingChoice {
  readonly flag?: ThinkingLevel | undefined;
  /** The `:<thinking>` suffix of the model's pattern. */
  readonly suffix?: ThinkingLevel | undefined;
  readonly session?: ThinkingLevel | undefined;
  readonly settings?: Pick<SettingsStore, "get"> | undefined;
}

/** The requested level, before it is clamped to the model's abilities. */
export function chooseThinkingLevel(
  model: Pick<Model, "provider" | "id"> | undefined,
  choice: ThinkingChoice,
): ThinkingLevel {
  const { settings } = choice;
  const perModel = settings?.get("modelThinkingLevels") ?? {};
  const name = model === undefined ? "" : `${model.provider}/${model.id}`;
  return (
    choice.flag ??
    choice.suffix ??
    choice.session ??
    (Object.hasOwn(perModel, name) ? perModel[name] : undefined) ??
    settings?.get("defaultThinkingLevel") ??
    "medium"
  );
}
