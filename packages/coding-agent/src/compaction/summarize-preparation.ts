import type { Model } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { withoutTodoSection } from "../todos/todo-text.ts";
import { renderFileLists } from "./file-operations.ts";
import type { CompactionPreparation } from "./prepare.ts";
import { serializeMessages } from "./serialize-conversation.ts";
import { type SummarizerOptions, summarize } from "./summarize.ts";
import type { NoteUsage } from "./summary-costs.ts";
import { requestBudget, type SummaryJob, summarizeInParts } from "./summary-parts.ts";
import {
  firstSummaryInstructions,
  turnPrefixInstructions,
  updatedSummaryInstructions,
  updatedTurnPrefixInstructions,
} from "./summary-prompts.ts";

interface PreparationSummaryOptions extends Omit<SummarizerOptions, "budget"> {
  readonly model: Model;
  /** How many tokens of the model's context window a request leaves free. */
  readonly reserveTokens: number;
  readonly note: NoteUsage;
  /** What the user wants the summary to focus on. */
  readonly focus: string | undefined;
}

/**
 * The text that replaces the older part of a conversation, with the files it touched. Requests run one after the other,
 * because servers with a single slot refuse parallel requests.
 *
 * @throws {SessionError} `summary_failed`; `compaction_cancelled` if aborted; `nothing_to_compact` if none of the
 *   messages contains text
 */
export async function summarizePreparation(
  preparation: CompactionPreparation,
  signal: AbortSignal,
  options: PreparationSummaryOptions,
): Promise<string> {
  const { messagesToSummarize, turnPrefixMessages, previousSummary, files } = preparation;
  const { model, reserveTokens, focus } = options;
  const ask = (text: string, label: string | undefined) =>
    summarize(text, signal, { ...options, label });
  const budget = requestBudget(model, reserveTokens);
  const inParts = async (job: SummaryJob) =>
    job.pieces.length === 0 ? undefined : summarizeInParts({ ...job, focus }, { budget, ask });
  const before = serializeMessages(messagesToSummarize);
  const begun = serializeMessages(turnPrefixMessages);
  if (before.length + begun.length === 0) throw new SessionError("nothing_to_compact");
  // The last compaction may have cut the same turn: then the next part of the turn extends the earlier summary.
  const isSameTurn = before.length === 0 && previousSummary !== undefined;
  const history = await inParts({
    pieces: isSameTurn ? begun : before,
    first: firstSummaryInstructions,
    later: updatedSummaryInstructions,
    previousSummary: previousSummary && withoutTodoSection(previousSummary),
  });
  const prefix = await inParts({
    pieces: isSameTurn ? [] : begun,
    first: turnPrefixInstructions,
    later: updatedTurnPrefixInstructions,
  });
  return joinSummaries(history, prefix) + renderFileLists(files);
}

/** The form in which pi stores a cut through a turn. */
function joinSummaries(history: string | undefined, prefix: string | undefined): string {
  if (prefix === undefined) return history ?? "";
  return `${history ?? "No prior history."}\n\n---\n\n**Turn Context (split turn):**\n\n${prefix}`;
}
