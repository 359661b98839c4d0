import type { SessionEntry } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { ENVIRONMENT_ENTRY, hostNotes } from "@tau-agent/sessions/log";
import { fieldText, numberOf } from "./facts.ts";

/**
 * Entries without information for a reader: the host's own notes, and thinking levels at which no
 * thinking happened, as with models that cannot think. A level that ends thinking is not quiet.
 */
export function quietEntries(
  entries: readonly SessionEntry[],
  parents: readonly number[],
): ReadonlySet<number> {
  const quiet = new Set<number>();
  // For each entry, the last change of the level at or above it.
  const levels: number[] = [];
  const used = new Set<number>();
  for (const [index, entry] of entries.entries()) {
    const above = levels[parents[index] ?? -1] ?? -1;
    const isLevel = entry.type === "thinking_level_change";
    levels.push(isLevel ? index : above);
    if (entry.type === "custom" && hostNotes.has(customTypeOf(entry))) quiet.add(index);
    if (hasThinking(entry)) used.add(above);
  }
  for (const [index, entry] of entries.entries()) {
    if (entry.type !== "thinking_level_change" || used.has(index)) continue;
    const { thinkingLevel } = entry as { thinkingLevel?: unknown };
    const before = levels[parents[index] ?? -1] ?? -1;
    if (thinkingLevel !== "off" || !used.has(before)) quiet.add(index);
  }
  return quiet;
}

/** The first operating system and processor that the model was told. */
export function platformOf(entries: readonly SessionEntry[]): string {
  const { data } = (entries.find(isEnvironment) ?? {}) as { data?: unknown };
  return isJsonObject(data) ? fieldText(data.platform ?? "") : "";
}

function isEnvironment(entry: SessionEntry): boolean {
  return entry.type === "custom" && customTypeOf(entry) === ENVIRONMENT_ENTRY;
}

function customTypeOf(entry: SessionEntry): string {
  return fieldText((entry as { customType?: unknown }).customType ?? "");
}

function hasThinking(entry: SessionEntry): boolean {
  const { message } = entry as { message?: unknown };
  if (!isJsonObject(message) || message.role !== "assistant") return false;
  const { content, usage } = message;
  const isThinking = (block: unknown) => isJsonObject(block) && block.type === "thinking";
  return (
    (Array.isArray(content) && content.some(isThinking)) ||
    (isJsonObject(usage) && numberOf(usage.reasoning) > 0)
  );
}
