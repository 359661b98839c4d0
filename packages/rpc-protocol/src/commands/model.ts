import * as z from "zod/mini";
import { Model, ThinkingLevel } from "../vocabulary/model.ts";
import { command } from "./command.ts";

/** Choosing a model and how much it thinks. */
export const modelCommands = {
  set_model: command({
    summary: "Switches to a model and returns it.",
    params: () =>
      z.object({
        /** The model's provider. */
        provider: z.string(),
        /** The id of the model at its provider. */
        modelId: z.string(),
      }),
    result: () => Model,
    positional: ["provider", "modelId"],
    awaitsSessionChange: true,
  }),
  cycle_model: command({
    summary: "Switches to the next available model; null if there is no other.",
    result: () =>
      z.nullable(
        z.object({
          /** The model. */
          model: Model,
          /** The thinking level. */
          thinkingLevel: ThinkingLevel,
          /** Whether the cycle is limited to selected models. */
          isScoped: z.boolean(),
        }),
      ),
    awaitsSessionChange: true,
  }),
  get_available_models: command({
    summary: "Lists the models whose provider has a key.",
    result: () =>
      z.object({
        /** The models. */
        models: z.array(Model),
      }),
  }),
  set_thinking_level: command({
    summary: "Sets the thinking level, clamped to what the model supports.",
    params: () =>
      z.object({
        /** The thinking level. */
        level: ThinkingLevel,
      }),
    positional: ["level"],
    awaitsSessionChange: true,
  }),
  cycle_thinking_level: command({
    summary: "Switches to the next thinking level the model supports; null if it supports none.",
    result: () =>
      z.nullable(
        z.object({
          /** The thinking level. */
          level: ThinkingLevel,
        }),
      ),
    awaitsSessionChange: true,
  }),
  get_available_thinking_levels: command({
    summary: "Lists the thinking levels the model supports, lowest first.",
    result: () =>
      z.object({
        /** The levels. */
        levels: z.array(ThinkingLevel),
      }),
  }),
};
