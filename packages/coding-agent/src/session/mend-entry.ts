import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject } from "../files/read-json.ts";
import { mendMembers, number, optional, type Rule, text, yes } from "./mend.ts";
import { content, normalizeMessage, usage } from "./normalize-message.ts";

type RawEntry = Record<string, unknown>;

const timestamp: Rule = {
  fits: (value) => typeof value === "string" && !Number.isNaN(Date.parse(value)),
  mend: () => new Date(0).toISOString(),
};

const message: Rule = {
  fits: (value) => isJsonObject(value) && normalizeMessage(value as AgentMessage) === value,
  mend: (value) => normalizeMessage(value as AgentMessage),
};

const replacement: Rule = {
  fits: (value) => value === null || (isJsonObject(value) && "content" in value),
  mend: () => undefined,
};

/** Of each type: the members it means nothing without, and those that can be mended. */
const types: Readonly<
  Record<KnownSessionEntry["type"], { needs?: Record<string, Rule>; mends?: Record<string, Rule> }>
> = {
  message: { mends: { message } },
  model_change: { needs: { provider: text, modelId: text } },
  thinking_level_change: { needs: { thinkingLevel: text } },
  compaction: {
    needs: { summary: text },
    mends: {
      firstKeptEntryId: text,
      tokensBefore: number,
      fromHook: optional(yes),
      usage: optional(usage),
    },
  },
  branch_summary: {
    needs: { summary: text },
    mends: { fromId: text, fromHook: optional(yes), usage: optional(usage) },
  },
  custom: { mends: { customType: text } },
  custom_message: { mends: { customType: text, content, display: yes } },
  label: { needs: { targetId: text }, mends: { label: optional(text) } },
  context_edit: { needs: { targetId: text, replacement } },
  session_info: { mends: { name: optional(text) } },
};

/**
 * An entry of a file as the session can use it, itself when nothing is wrong with it. One that lacks
 * what it is about keeps its place in the tree and means nothing.
 */
export function mendEntry(entry: RawEntry): RawEntry {
  const type = String(entry.type);
  if (!Object.hasOwn(types, type)) return mendMembers(entry, { timestamp });
  const { needs = {}, mends = {} } = types[type as KnownSessionEntry["type"]];
  const isWhole = Object.entries(needs).every(([name, rule]) => rule.fits(entry[name]));
  return mendMembers(isWhole ? entry : { ...entry, type: "unreadable" }, { ...mends, timestamp });
}
