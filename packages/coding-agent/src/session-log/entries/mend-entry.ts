import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject } from "../../base/files/read-json.ts";
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

/** Dates as they are usually written; parsing every one would take half of the time for a long session. */
const usualDate =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?Z$/;

const timestamp: Rule = {
  fits: (value) =>
    typeof value === "string" && (usualDate.test(value) || !Number.isNaN(Date.parse(value))),
  mend: () => new Date(0).toISOString(),
};

const message: Rule = {
  fits: (value) => isJsonObject(value) && normalizeMessage(value as AgentMessage) === value,
  // What is no message at all is left to whoever reads the file.
  mend: (value) =>
    isJsonObject(value) ? normalizeMessage(value as unknown as AgentMessage) : value,
};

const replacement: Rule = {
  fits: (value) => value === null || (isJsonObject(value) && "content" in value),
  mend: () => undefined,
};

const stamped = rulesOf({ timestamp });

/** Of each type: the members it means nothing without, and rules for all others. */
const types: Readonly<Record<KnownSessionEntry["type"], { needs?: Rules; mends: Rules }>> = {
  message: { mends: rulesOf({ message, timestamp }) },
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
  session_info: { mends: rulesOf({ name: optional(text), timestamp }) },
};

/**
 * An entry of a file as the session can use it, itself when nothing is wrong with it. One that lacks
 * what it is about keeps its place in the tree and means nothing.
 */
export function mendEntry(entry: RawEntry): RawEntry {
  const type = String(entry.type);
  if (!Object.hasOwn(types, type)) return mendMembers(entry, stamped);
  const { needs = [], mends } = types[type as KnownSessionEntry["type"]];
  const isWhole = needs.every(([name, rule]) => rule.fits(entry[name]));
  return mendMembers(isWhole ? entry : { ...entry, type: "unreadable" }, mends);
}
