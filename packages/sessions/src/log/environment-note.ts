import type { KnownSessionEntry, SessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";

/** The facts that the model learns about its surroundings. */
export interface EnvironmentFacts {
  /** The user's date, as in `2026-11-22`. */
  readonly date: string;
  /** Operating system and processor, as in `linux x64`. */
  readonly platform: string;
}

/** The type of the custom entry that holds {@link EnvironmentFacts}. */
export const ENVIRONMENT_ENTRY = "environment";

/** The type of the custom entry with the format that the answer to the next prompt must have. */
export const OUTPUT_ENTRY = "output_format";

/**
 * Texts that are added to a message in requests only, by the message's timestamp. Extensions return
 * copies of messages, so the objects themselves cannot serve as keys.
 */
export type MessageNotes = ReadonlyMap<number, string>;

/** The text added to a message in a request; undefined for most messages. */
export function noteOf(notes: MessageNotes, { role, timestamp }: AgentMessage): string | undefined {
  return role === "user" || role === "compactionSummary" ? notes.get(timestamp) : undefined;
}

export function environmentText({ date, platform }: EnvironmentFacts): string {
  return `<environment>\nDate: ${date}\nPlatform: ${platform}\n</environment>`;
}

export function environmentOf(entry: SessionEntry): string | undefined {
  const known = entry as KnownSessionEntry;
  if (known.type !== "custom" || known.customType !== ENVIRONMENT_ENTRY) return undefined;
  const { date, platform } = isJsonObject(known.data) ? known.data : {};
  if (typeof date !== "string" || typeof platform !== "string") return undefined;
  return environmentText({ date, platform });
}

export function outputFormatOf(entry: SessionEntry): string | undefined {
  const known = entry as KnownSessionEntry;
  if (known.type !== "custom" || known.customType !== OUTPUT_ENTRY) return undefined;
  const { text } = isJsonObject(known.data) ? known.data : {};
  return typeof text === "string" ? text : undefined;
}
