import type { SessionEntry } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { callSubject } from "./call-subject.ts";
import { fieldText, snippet } from "./facts.ts";
import type { EntryKind } from "./render-message.ts";
import { blocksOf, textOf } from "./render-parts.ts";
import { messageOf, type SessionOutline } from "./session-outline.ts";

type TreeRow = readonly [parent: number, kind: RowKind, words: string, label?: string];

/**
 * Kinds of rows besides those of entries: calls whose results have separate rows, failed results,
 * and entries that are not shown.
 */
type RowKind = EntryKind | "calls" | "failed" | "quiet";

export interface TreeIndex {
  readonly leaf: number;
  readonly rows: readonly TreeRow[];
}

type Fields = Readonly<Record<string, unknown>>;

const wordsLength = 90;

export function buildTreeIndex(outline: SessionOutline): TreeIndex {
  const { entries, parents, leaf, labels, quiet } = outline;
  const rows = entries.map((entry, index): TreeRow => {
    const [shown, words] = describe(entry, index, outline);
    const kind = quiet.has(index) ? "quiet" : shown;
    const label = labels.get(entry.id);
    const short = snippet(words, wordsLength)
      .replace(/[`*#]+/g, "")
      .trim();
    const parent = parents[index] ?? -1;
    return label === undefined ? [parent, kind, short] : [parent, kind, short, snippet(label, 40)];
  });
  return { leaf, rows };
}

function describe(entry: SessionEntry, index: number, outline: SessionOutline): [RowKind, string] {
  const message = messageOf(entry);
  if (message?.role === "toolResult") return describeResult(message, index, outline);
  if (message?.role === "assistant") return describeReply(message, index, outline);
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

/** Describes a reply; if it has no text, by its calls, unless they have separate rows. */
function describeReply(
  message: Fields,
  index: number,
  { resultsOf }: SessionOutline,
): [RowKind, string] {
  const words = textOf(message.content).trim();
  if (words !== "") return ["assistant", words];
  const calls = blocksOf(message.content).filter(({ type }) => type === "toolCall");
  if (calls.length === 0) return ["assistant", fieldText(message.errorMessage ?? "No text")];
  const results = [...(resultsOf.get(index)?.values() ?? [])];
  const hasRows = results.some((found) => found.length > 0);
  return [hasRows ? "calls" : "assistant", calls.map(nameCall).join(", ")];
}

/** Describes a result by its call, as in `bash: npm test`, or by its output if the call is missing. */
function describeResult(
  message: Fields,
  index: number,
  { entries, nested }: SessionOutline,
): [RowKind, string] {
  const kind = message.isError === true ? "failed" : "result";
  const reply = entries[nested.get(index) ?? -1];
  const call = blocksOf(reply && messageOf(reply)?.content).find(
    ({ type, id }) => type === "toolCall" && fieldText(id) === fieldText(message.toolCallId),
  );
  if (call !== undefined) return [kind, nameCall(call)];
  const words = textOf(message.content).trim();
  return [kind, `${fieldText(message.toolName)}: ${words || "no output"}`];
}

function nameCall({ name, arguments: given }: Fields): string {
  const subject = callSubject(fieldText(name), isJsonObject(given) ? given : {});
  return subject === "" ? fieldText(name) : `${fieldText(name)}: ${subject}`;
}

function describeMessage(message: Fields): [RowKind, string] {
  const words = textOf(message.content).trim();
  switch (message.role) {
    case "user":
      return ["user", words || "Image"];
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
