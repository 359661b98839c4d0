import { isProviderError } from "@tau-agent/ai";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { summaryRequest, summarySystemPrompt } from "./summary-prompts.ts";
import { clipText, textTokens } from "./text-tokens.ts";

/** The context window assumed if a model does not declare one. */
const DEFAULT_CONTEXT_WINDOW = 128_000;
/** The minimum of conversation in a request, in tokens, however small the window is. */
const MIN_ROOM = 64;

export interface SummaryJob {
  /** The messages as text, oldest first. */
  readonly pieces: readonly string[];
  /** The instructions for a request without an earlier summary. */
  readonly first: string;
  readonly later: string;
  readonly previousSummary?: string | undefined;
  readonly focus?: string | undefined;
}

export interface SummaryPart {
  readonly text: string;
  /** The index of the first piece that is not included. */
  readonly next: number;
}

/**
 * How many tokens a request for a summary may take, the system prompt included. The rest of the
 * window is for the summary (at most `reserveTokens`) and for the error of the estimate.
 */
export function requestBudget({ contextWindow }: Model, reserveTokens: number): number {
  const window = contextWindow || DEFAULT_CONTEXT_WINDOW;
  return Math.floor(window * 0.9) - Math.min(reserveTokens, Math.floor(window * 0.3));
}

export function requestTokens(text: string): number {
  return textTokens(summarySystemPrompt) + textTokens(text);
}

/** The next request, with as many pieces from `at` on as fit; a piece too large for any request is cut. */
export function nextPart(
  job: SummaryJob,
  at: number,
  { summary, budget }: { readonly summary: string | undefined; readonly budget: number },
): SummaryPart {
  const instructions = summary === undefined ? job.first : job.later;
  const shown = {
    previousSummary: summary === undefined ? undefined : clipText(summary, Math.floor(budget / 4)),
    focus: job.focus === undefined ? undefined : clipText(job.focus, Math.floor(budget / 8)),
  };
  const request = (conversation: string): string =>
    summaryRequest(conversation, clipText(instructions, Math.floor(budget / 3)), shown);
  const room = Math.max(MIN_ROOM, budget - requestTokens(request("")) - 2);
  const pieces: string[] = [];
  let left = room;
  let next = at;
  for (const piece of job.pieces.slice(at)) {
    // Two more tokens for the separator.
    const tokens = textTokens(piece) + 2;
    if (tokens > left && pieces.length > 0) break;
    pieces.push(tokens > left ? clipText(piece, left - 2) : piece);
    left -= tokens;
    next++;
    if (left <= 0) break;
  }
  return { text: request(pieces.join("\n\n")), next };
}

export interface PartAsker {
  readonly budget: number;
  /** Requests one summary; `label` names the request if there are several. */
  readonly ask: (text: string, label: string | undefined) => Promise<string>;
}

/**
 * Summarises a conversation that may be larger than the model's window: part by part, each with the summary so far. If
 * the vendor counts more tokens than estimated and refuses a request as too long, the rest is summarised in smaller
 * parts.
 */
export async function summarizeInParts(job: SummaryJob, asker: PartAsker): Promise<string> {
  let { budget } = asker;
  let summary = job.previousSummary;
  let at = 0;
  for (let count = 1; ; count++) {
    const part = nextPart(job, at, { summary, budget });
    const isOnly = at === 0 && part.next >= job.pieces.length;
    try {
      const label = isOnly ? undefined : `part ${count} of the conversation`;
      summary = await asker.ask(part.text, label);
      at = part.next;
    } catch (error) {
      const smaller = Math.floor(Math.min(budget, requestTokens(part.text)) / 2);
      if (!isTooLong(error) || smaller < MIN_ROOM * 4) throw error;
      budget = smaller;
      continue;
    }
    if (at >= job.pieces.length) return summary;
  }
}

function isTooLong(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return isProviderError(cause) && cause.code === "context_overflow";
}
