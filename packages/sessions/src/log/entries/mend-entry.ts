import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import {
  mendMembers,
  number,
  optional,
  type Rule,
  type Rules,
  rulesOf,
  text,
  yes,
} from "./mend.ts";
import { content, normalizeMessage, usage } from "./normalize-message.ts";

type RawEntry = Record<string, unknown>;

/** The usual format of dates; parsing every date would take half of the time to load a long session. */
const usualDate =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?Z$/;

const timestamp: Rule = {
  fits: (value) =>
    typeof value === "string" && (usualDate.test(value) || !Number.isNaN(Date.parse(value))),
  mend: () => new Date(0).toISOString(),
};

const message: Rule = {
  fits: (value) => isJsonObject(value) && normalizeMessage(value as AgentMessage) === value,
  // Malformed messages are repaired when they are read.
  mend: (value) =>
    isJsonObject(value) ? normalizeMessage(value as unknown as AgentMessage) : value,
};

const replacement: Rule = {
  fits: (value) => value === null || (isJsonObject(value) && "content" in value),
  mend: () => undefined,
};

const oneOf = (...words: readonly string[]): Rule => ({
  fits: (value) => words.some((word) => word === value),
  mend: () => undefined,
});

const members: Rule = { fits: isJsonObject, mend: () => undefined };

const stamped = rulesOf({ timestamp });

/** For each type: the required members, and rules for all others. */
const types: Readonly<Record<KnownSessionEntry["type"], { needs?: Rules; mends: Rules }>> = {
  message: { mends: rulesOf({ message, promptId: optional(text), timestamp }) },
  model_change: { needs: rulesOf({ provider: text, modelId: text }), mends: stamped },
  thinking_level_change: { needs: rulesOf({ thinkingLevel: text }), mends: stamped },
  compaction: {
    needs: rulesOf({ summary: text }),
    mends: rulesOf({
      firstKeptEntryId: text,
      tokensBefore: number,
      fromHook: optional(yes),
      usage: optional(usage),
      timestamp,
    }),
  },
  branch_summary: {
    needs: rulesOf({ summary: text }),
    mends: rulesOf({ fromId: text, fromHook: optional(yes), usage: optional(usage), timestamp }),
  },
  custom: { mends: rulesOf({ customType: text, timestamp }) },
  custom_message: { mends: rulesOf({ customType: text, content, display: yes, timestamp }) },
  label: {
    needs: rulesOf({ targetId: text }),
    mends: rulesOf({ label: optional(text), timestamp }),
  },
  context_edit: { needs: rulesOf({ targetId: text, replacement }), mends: stamped },
  approval: {
    needs: rulesOf({ phase: oneOf("asked", "answered"), toolCallId: text }),
    mends: rulesOf({
      requestId: optional(text),
      promptId: optional(text),
      agentId: optional(text),
      toolName: optional(text),
      input: optional(members),
      decision: optional(oneOf("allow", "deny")),
      by: optional(oneOf("client", "rule", "mode", "timeout", "abort", "end", "nobody")),
      scope: optional(oneOf("once", "session", "always")),
      message: optional(text),
      timestamp,
    }),
  },
  session_info: { mends: rulesOf({ name: optional(text), timestamp }) },
};

/**
 * An entry of a file in a usable form; the same object if it is valid. An entry without a required
 * member keeps its place in the tree and is otherwise ignored.
 */
export function mendEntry(entry: RawEntry): RawEntry {
  const type = String(entry.type);
  if (!Object.hasOwn(types, type)) return mendMembers(entry, stamped);
  const { needs = [], mends } = types[type as KnownSessionEntry["type"]];
  const isWhole = needs.every(([name, rule]) => rule.fits(entry[name]));
  return mendMembers(isWhole ? entry : { ...entry, type: "unreadable" }, mends);
}
