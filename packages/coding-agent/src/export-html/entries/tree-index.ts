import type { SessionEntry } from "@tau-agent/rpc-protocol";
import { fieldText, snippet } from "./facts.ts";
import type { EntryKind } from "./render-message.ts";
import { blocksOf, textOf } from "./render-parts.ts";
import { messageOf, type SessionOutline } from "./session-outline.ts";

/** An entry in the tree: parent, kind, first words, label. */
type TreeRow = readonly [parent: number, kind: EntryKind | "calls", words: string, label?: string];

/** The tree as the page's script reads it. */
export interface TreeIndex {
  readonly leaf: number;
  readonly rows: readonly TreeRow[];
}

const wordsLength = 90;

/** Describes all entries in the order of the file. */
export function buildTreeIndex({ entries, parents, leaf, labels }: SessionOutline): TreeIndex {
  const rows = entries.map((entry, index): TreeRow => {
    const [kind, words] = describe(entry);
    const label = labels.get(entry.id);
    const short = snippet(words, wordsLength)
      .replace(/[`*#]+/g, "")
      .trim();
    const parent = parents[index] ?? -1;
    return label === undefined ? [parent, kind, short] : [parent, kind, short, snippet(label, 40)];
  });
  return { leaf, rows };
}

function describe(entry: SessionEntry): [TreeRow[1], string] {
  const message = messageOf(entry);
  if (message !== undefined) return describeMessage(message);
  const fields = entry as Readonly<Record<string, unknown>>;
  switch (entry.type) {
    case "model_change":
      return ["setting", `Model ${fieldText(fields.modelId)}`];
    case "thinking_level_change":
      return ["setting", `Thinking ${fieldText(fields.thinkingLevel)}`];
    case "session_info":
      return ["setting", `Name ${fieldText(fields.name ?? "")}`];
    case "label":
      return ["setting", `Label ${fieldText(fields.label ?? "removed")}`];
    case "compaction":
      return ["summary", "Context compacted"];
    case "branch_summary":
      return ["summary", `Branch: ${fieldText(fields.summary ?? "")}`];
    case "custom_message":
      return ["custom", textOf(fields.content) || fieldText(fields.customType)];
    default:
      return ["other", fieldText(fields.customType ?? entry.type)];
  }
}

function describeMessage(message: Readonly<Record<string, unknown>>): [TreeRow[1], string] {
  const words = textOf(message.content).trim();
  switch (message.role) {
    case "user":
      return ["user", words || "Image"];
    case "assistant": {
      if (words !== "") return ["assistant", words];
      const calls = blocksOf(message.content).filter(({ type }) => type === "toolCall");
      if (calls.length > 0) return ["calls", calls.map(({ name }) => fieldText(name)).join(", ")];
      return ["assistant", fieldText(message.errorMessage ?? "No text")];
    }
    case "toolResult":
      return ["result", `${fieldText(message.toolName)}: ${words || "no output"}`];
    case "bashExecution":
      return ["bash", `$ ${fieldText(message.command)}`];
    case "custom":
      return ["custom", words || fieldText(message.customType)];
    case "compactionSummary":
    case "branchSummary":
      return ["summary", fieldText(message.summary ?? "")];
    default:
      return ["other", words || fieldText(message.role)];
  }
}
