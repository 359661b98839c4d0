import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { NewEntry } from "./session-log.ts";

const FALLBACK_ENTRY = "model_fallback";

/** The model that answers instead of the chosen one; models are written as `provider/id`. */
export interface FallbackNote {
  readonly chosen: string;
  readonly to: string;
  /** When the chosen model failed, in ms since the epoch. */
  readonly failedAt: number;
}

/** The entry for a fallback; `details` is for people who read the file. */
export function fallbackEntry(note: FallbackNote, details: object): NewEntry {
  return { type: "custom", customType: FALLBACK_ENTRY, data: { ...note, ...details } };
}

export function isFallbackEntry(entry: KnownSessionEntry): boolean {
  return entry.type === "custom" && entry.customType === FALLBACK_ENTRY;
}

export function fallbackNoteOf(entry: KnownSessionEntry): FallbackNote | undefined {
  if (entry.type !== "custom" || !isFallbackEntry(entry) || !isJsonObject(entry.data))
    return undefined;
  const { chosen, to, failedAt } = entry.data;
  if (typeof chosen !== "string" || typeof to !== "string") return undefined;
  return typeof failedAt === "number" ? { chosen, to, failedAt } : undefined;
}
