import type { KnownSessionEntry, SessionEntry, SessionEntryOf } from "@tau-agent/rpc-protocol";
import type {
  AgentMessage,
  AssistantMessage,
  CustomMessage,
} from "@tau-agent/rpc-protocol/messages";
import {
  clearedResultsOf,
  emptyResultView,
  type ResultView,
  resultKey,
  type ShownAsLine,
  savedBy,
} from "./cleared-results.ts";
import { normalizeMessage } from "./entries/normalize-message.ts";
import { environmentOf, outputFormatOf } from "./environment-note.ts";
import { failedAttempt } from "./failed-attempt.ts";
import { type FallbackNote, fallbackNoteOf } from "./fallback-note.ts";
import { reminderDetails } from "./reminder.ts";

interface NamedModel {
  readonly provider: string;
  readonly modelId: string;
}

/** The model that continues a branch, and its thinking level. */
export interface ResumedModel {
  /** Undefined if the branch does not set one. */
  readonly thinkingLevel: string | undefined;
  readonly model: NamedModel | undefined;
  /** The model that answers because the chosen one failed. */
  readonly fallback?: FallbackNote | undefined;
}

export interface SessionContext extends ResumedModel {
  readonly messages: AgentMessage[];
  /** Texts that are added to messages in requests only. */
  readonly notes: Map<number, string>;
  /** The latest note about the surroundings; it may not be attached to a message yet. */
  readonly environment: { readonly text: string; readonly isWaiting: boolean } | undefined;
  readonly results: ResultView;
}

/** Builds the conversation from the entries of a branch, oldest first. */
export function buildSessionContext(branch: readonly SessionEntry[]): SessionContext {
  const { compaction, entries } = contextEntries(branch);
  const newestFirst = branch.toReversed();
  return {
    ...collectMessages({ compaction, items: entries, others: branch }),
    thinkingLevel: latestLevel(newestFirst),
    ...latestModel(newestFirst, newestFirst),
  };
}

function firstOf<Found>(
  entries: Iterable<SessionEntry>,
  find: (entry: KnownSessionEntry) => Found | undefined,
): Found | undefined {
  for (const entry of entries) {
    const found = find(entry as KnownSessionEntry);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The latest thinking level in entries that are given newest first. */
export function latestLevel(entries: Iterable<SessionEntry>): ResumedModel["thinkingLevel"] {
  return firstOf(entries, (entry) =>
    entry.type === "thinking_level_change" ? entry.thinkingLevel : undefined,
  );
}

/**
 * The latest model of a branch: that of its newest reply, unless that was a fallback.
 *
 * @param replies - replies, and entries without a message, newest first
 * @param others - at least the entries without a message, newest first
 */
export function latestModel(
  replies: Iterable<SessionEntry>,
  others: Iterable<SessionEntry>,
): Pick<ResumedModel, "model" | "fallback"> {
  const latest = firstOf(replies, choiceOf);
  const noted = firstOf(others, (entry) => (isReply(entry) ? undefined : choiceOf(entry)));
  const fallback = noted?.fallback;
  const isFallback = noted !== undefined && latest?.answers === noted.answers;
  if (fallback === undefined || !isFallback) return { model: latest?.model };
  return { model: noted.model, fallback };
}

interface ModelChoice {
  readonly model: NamedModel;
  /** The model that answers, as `provider/id`. */
  readonly answers: string;
  readonly fallback?: FallbackNote | undefined;
}

function choiceOf(entry: KnownSessionEntry): ModelChoice | undefined {
  const fallback = fallbackNoteOf(entry);
  if (fallback !== undefined) {
    const { chosen, to } = fallback;
    return { model: namedModel(chosen), answers: to, fallback };
  }
  const model = isReply(entry)
    ? { provider: entry.message.provider, modelId: entry.message.model }
    : entry.type === "model_change"
      ? { provider: entry.provider, modelId: entry.modelId }
      : undefined;
  return model && { model, answers: `${model.provider}/${model.modelId}` };
}

function isReply(
  entry: KnownSessionEntry,
): entry is SessionEntryOf<"message"> & { message: AssistantMessage } {
  return entry.type === "message" && entry.message.role === "assistant";
}

function namedModel(name: string): NamedModel {
  const slash = name.indexOf("/");
  return { provider: name.slice(0, slash), modelId: name.slice(slash + 1) };
}

/** The latest compaction of a branch and the other entries that count, oldest first. */
export function contextEntries(branch: readonly SessionEntry[]): {
  readonly compaction: CompactionEntry | undefined;
  readonly entries: readonly SessionEntry[];
} {
  const end = branch.findLastIndex((entry) => entry.type === "compaction");
  const compaction = branch[end] as CompactionEntry | undefined;
  if (compaction === undefined) return { compaction, entries: branch };
  const start = branch.findIndex((entry) => entry.id === compaction.firstKeptEntryId);
  const kept = start === -1 ? [] : branch.slice(start, end);
  return { compaction, entries: [...kept, ...branch.slice(end + 1)] };
}

export type CompactionEntry = SessionEntryOf<"compaction">;

/** An entry, or a usual message that was read without its entry. */
export type ContextItem = SessionEntry | ScannedItem;

/** A usual message, and the id of its entry if it is the result of a tool. */
interface ScannedItem {
  readonly scanned: AgentMessage;
  readonly resultId?: string | undefined;
}

interface Counting {
  readonly compaction: CompactionEntry | undefined;
  /** The other items that count, oldest first. */
  readonly items: readonly ContextItem[];
  /** All entries of the branch except usual messages; it may include these, too. */
  readonly others: readonly SessionEntry[];
}

type Collected = Pick<SessionContext, "messages" | "notes" | "environment" | "results">;

/** The latest compaction replaces everything before its first kept entry. */
export function collectMessages({ compaction, items, others }: Counting): Collected {
  const messages: AgentMessage[] = [];
  const notes = new Map<number, string>();
  let waiting: string | undefined;
  let format: string | undefined;
  if (compaction !== undefined) messages.push(summaryMessage(compaction));
  const edits = contextEdits(others);
  const cleared = clearedIn(others);
  const inContext = cleared && new Set<string>();
  const results = emptyResultView();
  for (const item of items) {
    const scanned = "scanned" in item ? (item as ScannedItem) : undefined;
    const entry = scanned === undefined ? (item as SessionEntry) : undefined;
    waiting = (entry && environmentOf(entry)) ?? waiting;
    format = (entry && outputFormatOf(entry)) ?? format;
    if (entry?.type === "custom") noteSavings(results, entry, messages.at(-1));
    const message =
      entry === undefined ? scanned?.scanned : edited(messageOf(entry), edits?.get(entry.id));
    if (message === undefined) continue;
    if (message.role === "toolResult") {
      const id = scanned?.resultId ?? entry?.id ?? "";
      const found = cleared?.get(id);
      results.entryIds.set(message, id);
      inContext?.add(id);
      // A line that refers to a summarised result would leave the model with neither.
      const isShown = found?.sameAs === undefined || inContext?.has(found.sameAs);
      if (found !== undefined && isShown) results.cleared.set(resultKey(message), found);
    }
    if (message.role === "user" && (waiting ?? format) !== undefined) {
      const texts = [format, waiting].filter((text) => text !== undefined);
      notes.set(message.timestamp, texts.join("\n\n"));
      waiting = undefined;
      format = undefined;
    }
    if (message.role === "assistant") dropRetried(messages);
    if (message.role === "custom") dropStopped(messages, message);
    messages.push(message);
  }
  const text = latestEnvironment(others);
  const [first] = messages;
  // The message that the note was attached to has been summarised.
  if (first?.role === "compactionSummary" && notes.size === 0 && waiting === undefined && text) {
    notes.set(first.timestamp, text);
  }
  const environment = text === undefined ? undefined : { text, isWaiting: waiting !== undefined };
  return { messages, notes, environment, results };
}

function clearedIn(branch: readonly SessionEntry[]): Map<string, ShownAsLine> | undefined {
  const found = branch.flatMap((entry) => {
    const since = Date.parse(entry.timestamp);
    return clearedResultsOf(entry).map((result) => ({ ...result, since }));
  });
  return found.length === 0 ? undefined : new Map(found.map((each) => [each.entryId, each]));
}

function noteSavings(
  { savings }: ResultView,
  entry: SessionEntry,
  last: AgentMessage | undefined,
): void {
  const saved = savedBy(clearedResultsOf(entry));
  if (last !== undefined && saved > 0) savings.set(last, (savings.get(last) ?? 0) + saved);
}

export function summaryMessage(compaction: CompactionEntry): AgentMessage {
  return {
    role: "compactionSummary",
    summary: compaction.summary,
    tokensBefore: compaction.tokensBefore,
    timestamp: Date.parse(compaction.timestamp),
  };
}

function latestEnvironment(branch: readonly SessionEntry[]): string | undefined {
  const entry = branch.findLast((candidate) => environmentOf(candidate) !== undefined);
  return entry && environmentOf(entry);
}

type ContextEdit = SessionEntryOf<"context_edit">;

function contextEdits(branch: readonly SessionEntry[]): Map<string, ContextEdit> | undefined {
  const edits = branch.filter((entry): entry is ContextEdit => entry.type === "context_edit");
  return edits.length === 0 ? undefined : new Map(edits.map((edit) => [edit.targetId, edit]));
}

function edited(
  message: AgentMessage | undefined,
  edit: ContextEdit | undefined,
): AgentMessage | undefined {
  if (message === undefined || edit === undefined) return message;
  if (edit.replacement === null) return undefined;
  if (!("content" in message)) return message;
  return normalizeMessage({ ...message, content: edit.replacement.content } as AgentMessage);
}

/** A failed attempt followed by another reply was retried: it stays in the file, but not in the context. */
function dropRetried(messages: AgentMessage[]): void {
  const attempt = failedAttempt(messages);
  const [reply] = attempt;
  if (reply === undefined) return;
  const rest = messages.splice(messages.lastIndexOf(reply));
  messages.push(...rest.filter((message) => !attempt.includes(message)));
}

/** A reply that a stream rule stopped is removed from the context with its results, unless the rule keeps it. */
function dropStopped(messages: AgentMessage[], reminder: CustomMessage): void {
  if (reminderDetails(reminder)?.contextMode !== "discard") return;
  const last = messages.findLastIndex(
    ({ role }) => role !== "toolResult" && role !== "bashExecution",
  );
  const reply = messages[last];
  if (reply?.role !== "assistant" || reply.stopReason !== "aborted") return;
  const rest = messages.splice(last).filter(({ role }) => role === "bashExecution");
  messages.push(...rest);
}

/** The message an entry adds to the conversation; undefined for entries that add none. */
export function messageOf(entry: SessionEntry): AgentMessage | undefined {
  const known = entry as KnownSessionEntry;
  switch (known.type) {
    case "message":
      return normalizeMessage(known.message);
    case "custom_message":
      return {
        role: "custom",
        customType: known.customType,
        content: known.content,
        display: known.display,
        ...(known.details === undefined ? {} : { details: known.details }),
        timestamp: Date.parse(known.timestamp),
      };
    case "branch_summary":
      return known.summary === ""
        ? undefined
        : {
            role: "branchSummary",
            summary: known.summary,
            fromId: known.fromId,
            timestamp: Date.parse(known.timestamp),
          };
    default:
      return undefined;
  }
}
