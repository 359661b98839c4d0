import type { modelCommands } from "@tau-agent/rpc-protocol/commands";
import type { HostHandlers } from "./contexts.ts";

export const modelHandlers = {
  set_model: ({ session }, { provider, modelId }) => session.models.set(provider, modelId),
  cycle_model: ({ session }) => session.models.cycle(),
  get_available_models: async ({ session }) => ({
    models: [...(await session.models.available())],
  }),
  set_thinking_level: ({ session }, { level }) => session.models.setThinkingLevel(level),
  cycle_thinking_level: ({ session }) => session.models.cycleThinkingLevel(),
  get_available_thinking_levels: ({ session }) => ({ levels: session.models.thinkingLevels() }),
} satisfies Pick<HostHandlers, keyof typeof modelCommands>;
