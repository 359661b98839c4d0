import type { SessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { messageOf } from "@tau-agent/sessions/log";
import { estimateTokens } from "./estimate.ts";
import { collectFiles, type FileLists, renderFileLists } from "./file-operations.ts";
import { serializeMessages } from "./serialize-conversation.ts";
import { summarize } from "./summarize.ts";
import { requestBudget, summarizeInParts } from "./summary-parts.ts";
import { branchSummaryInstructions, updatedBranchSummaryInstructions } from "./summary-prompts.ts";

const preamble = "What was done on the branch that was left:";

/** The fields of a branch summary, except for its position. */
export interface BranchSummary {
  readonly type: "branch_summary";
  readonly fromId: string;
  readonly summary: string;
  readonly details: FileLists;
}

/**
 * Summarises the entries of an abandoned branch, the newest first, as many as fit the model's
 * context window; undefined if they contain no text.
 *
 * @throws {SessionError} `summary_failed`, `compaction_cancelled`, `no_model`, `no_key`
 */
export async function summarizeBranch(
  entries: readonly SessionEntry[],
  options: {
    readonly customInstructions?: string | undefined;
    readonly replaceInstructions?: boolean | undefined;
  },
  signal: AbortSignal,
  summarizer: Parameters<typeof summarize>[2],
): Promise<BranchSummary | undefined> {
  const { model } = await summarizer.prepareRequest();
  const budget = requestBudget(model, summarizer.settings.get("branchSummary.reserveTokens"));
  const messages = newestOf(entries, budget);
  const { customInstructions, replaceInstructions } = options;
  const pieces = serializeMessages(messages);
  if (pieces.length === 0) return undefined;
  const job =
    replaceInstructions && customInstructions
      ? { pieces, first: customInstructions, later: customInstructions }
      : {
          pieces,
          first: branchSummaryInstructions,
          later: updatedBranchSummaryInstructions,
          focus: customInstructions,
        };
  const ask = (text: string, label: string | undefined) =>
    summarize(text, signal, { ...summarizer, label });
  const summary = await summarizeInParts(job, { budget, ask });
  const files = collectFiles(messages, undefined);
  return {
    type: "branch_summary",
    fromId: "root",
    summary: `${preamble}\n\n${summary}${renderFileLists(files)}`,
    details: files,
  };
}

/** The newest entries that fit, but at least one message, however large it is. */
function newestOf(entries: readonly SessionEntry[], budget: number): AgentMessage[] {
  const { messages } = newestWithin(entries, budget);
  if (messages.length > 0) return messages;
  const isShown = (message: AgentMessage | undefined) =>
    message !== undefined && message.role !== "toolResult";
  const newest = entries.map(messageOf).findLast(isShown);
  return newest === undefined ? [] : [newest];
}

/** The messages of a branch's newest entries that fit the budget, oldest first, without tool results. */
export function newestWithin(
  entries: readonly SessionEntry[],
  budgetTokens: number,
): { messages: AgentMessage[]; totalTokens: number } {
  const messages: AgentMessage[] = [];
  let totalTokens = 0;
  for (const entry of entries.toReversed()) {
    const message = messageOf(entry);
    if (message === undefined || message.role === "toolResult") continue;
    const size = estimateTokens(message);
    if (totalTokens + size > budgetTokens) break;
    totalTokens += size;
    messages.push(message);
  }
  return { messages: messages.reverse(), totalTokens };
}
