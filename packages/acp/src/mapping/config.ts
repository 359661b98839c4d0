import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import type { Model, PermissionMode, ThinkingLevel } from "@tau-agent/coding-agent";
import { permissionModes } from "@tau-agent/rpc-protocol/plain";

interface DescribedMode {
  readonly id: PermissionMode;
  readonly name: string;
  readonly description: string;
}

const modes: readonly DescribedMode[] = [
  { id: "all", name: "All", description: "Tools run without a question." },
  { id: "ask", name: "Ask", description: "Every tool that does more than read asks first." },
  {
    id: "acceptEdits",
    name: "Accept edits",
    description: "Edits inside the folder pass; the rest asks first.",
  },
  { id: "readOnly", name: "Read only", description: "Only tools that read may run." },
];

/** @param least - the mode of the host's policy; less strict modes are refused */
export function modeState(
  currentModeId: PermissionMode,
  least: PermissionMode = "all",
): SessionModeState {
  const allowed = permissionModes.slice(permissionModes.indexOf(least));
  return { currentModeId, availableModes: modes.filter(({ id }) => allowed.includes(id)) };
}

export function modeWithId(id: string): PermissionMode | undefined {
  return modes.find((mode) => mode.id === id)?.id;
}

export interface Choices {
  readonly model: Model | undefined;
  readonly models: readonly Model[];
  readonly thinkingLevel: ThinkingLevel;
  readonly thinkingLevels: readonly ThinkingLevel[];
}

export function configOptions(choices: Choices): SessionConfigOption[] {
  const { model, thinkingLevel, thinkingLevels } = choices;
  const levels = [...new Set([...thinkingLevels, thinkingLevel])];
  const thinking: SessionConfigOption = {
    type: "select",
    id: "thinking",
    name: "Thinking",
    description: "How much the model thinks before it answers",
    category: "thought_level",
    currentValue: thinkingLevel,
    options: levels.map((level) => ({ value: level, name: level })),
  };
  if (model === undefined) return [thinking];
  const current = modelValue(model);
  const offered = withCurrent(choices.models, model);
  return [
    {
      type: "select",
      id: "model",
      name: "Model",
      category: "model",
      currentValue: current,
      options: offered.map((one) => ({
        value: modelValue(one),
        name: one.name || one.id,
        description: one.provider,
      })),
    },
    thinking,
  ];
}

export function modelValue({ provider, id }: Model): string {
  return `${provider}/${id}`;
}

/** A session may use a model that is in no list. */
function withCurrent(models: readonly Model[], model: Model): readonly Model[] {
  const value = modelValue(model);
  return models.some((one) => modelValue(one) === value) ? models : [model, ...models];
}
