import type { SessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { messageOf } from "../session-log/session-context.ts";
import { estimateTokens } from "./estimate.ts";
import { collectFiles, type FileLists, renderFileLists } from "./file-operations.ts";
import { serializeConversation } from "./serialize-conversation.ts";
import { summarize } from "./summarize.ts";
import { branchSummaryInstructions, summaryRequest } from "./summary-prompts.ts";

/** The window to assume for a model without one. */
const DEFAULT_CONTEXT_WINDOW = 128_000;

const preamble = "What was done on the branch that was left:";

/** The fields of a branch summary except its place. */
export interface BranchSummary {
  readonly type: "branch_summary";
  readonly fromId: string;
  readonly summary: string;
  readonly details: FileLists;
}

/**
 * Summarises the entries of an abandoned branch, the newest first, as far as the model's window
 * allows.
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
): Promise<BranchSummary> {
  const { model } = await summarizer.prepareRequest();
  const window = model.contextWindow || DEFAULT_CONTEXT_WINDOW;
  const budget = window - summarizer.settings.get("branchSummary.reserveTokens");
  const { messages } = newestWithin(entries, budget);
  const { customInstructions, replaceInstructions } = options;
  const text = serializeConversation(messages);
  const request =
    replaceInstructions && customInstructions
      ? summaryRequest(text, customInstructions)
      : summaryRequest(text, branchSummaryInstructions, { focus: customInstructions });
  const summary = await summarize(request, signal, summarizer);
  const files = collectFiles(messages, undefined);
  return {
    type: "branch_summary",
    fromId: "root",
    summary: `${preamble}\n\n${summary}${renderFileLists(files)}`,
    details: files,
  };
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
