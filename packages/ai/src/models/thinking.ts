import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { thinkingLevels } from "@tau-agent/rpc-protocol/plain";
import type { ThinkingBudgets } from "../provider.ts";

/** Levels that a model supports only if its map lists them. */
const explicitLevels: ReadonlySet<ThinkingLevel> = new Set(["xhigh", "max"]);

const defaultBudgets: Readonly<Record<ThinkingLevel, number>> = {
  off: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 16_384,
  max: 16_384,
};

/** The thinking levels that a model supports, from lowest to highest; clients cycle in this order. */
export function supportedThinkingLevels(
  model: Pick<Model, "reasoning" | "thinkingLevelMap">,
): ThinkingLevel[] {
  if (!model.reasoning) return ["off"];
  return thinkingLevels.filter((level) => {
    const mapped = model.thinkingLevelMap?.[level];
    return explicitLevels.has(level) ? typeof mapped === "string" : mapped !== null;
  });
}

/** The nearest level that a model supports: first upwards from the requested one, then downwards. */
export function clampThinkingLevel(
  model: Pick<Model, "reasoning" | "thinkingLevelMap">,
  wanted: ThinkingLevel,
): ThinkingLevel {
  const supported = supportedThinkingLevels(model);
  const rank = thinkingLevels.indexOf(wanted);
  return (
    supported.find((level) => thinkingLevels.indexOf(level) >= rank) ?? supported.at(-1) ?? "off"
  );
}

/** The level after `current`, or the first after the last; undefined if there is only one. */
export function nextThinkingLevel(
  model: Pick<Model, "reasoning" | "thinkingLevelMap">,
  current: ThinkingLevel,
): ThinkingLevel | undefined {
  const supported = supportedThinkingLevels(model);
  if (supported.length < 2) return undefined;
  return supported[(supported.indexOf(current) + 1) % supported.length];
}

/** The number of thinking tokens for a level, for models that take a budget. */
export function thinkingBudget(level: ThinkingLevel, budgets: ThinkingBudgets = {}): number {
  const own = budgets[level] ?? (explicitLevels.has(level) ? budgets.high : undefined);
  return own ?? defaultBudgets[level];
}
