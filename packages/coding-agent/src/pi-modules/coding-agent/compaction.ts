import type { SessionEntry } from "@tau-agent/rpc-protocol";
import type {
  AgentMessage,
  AssistantMessage,
  Model,
  ThinkingLevel,
  Usage,
} from "@tau-agent/rpc-protocol/messages";
import {
  contentText,
  errorMessage,
  isThinkingLevel,
  SessionError,
} from "@tau-agent/rpc-protocol/plain";
import { contextEntries, messageOf, SessionTree } from "@tau-agent/sessions/log";
import { newestWithin } from "../../compaction/branch-summary.ts";
import { findCutPoint } from "../../compaction/cut-point.ts";
import { collectFiles, type FileLists, renderFileLists } from "../../compaction/file-operations.ts";
import { serializeConversation } from "../../compaction/serialize-conversation.ts";
import {
  branchSummaryInstructions,
  firstSummaryInstructions,
  summaryRequest,
  summarySystemPrompt,
  turnPrefixInstructions,
  updatedSummaryInstructions,
} from "../../compaction/summary-prompts.ts";
import type { ReadonlySession } from "../../extensions/api/context.ts";
import type { ProviderStream } from "../../extensions/api/native-provider.ts";

interface Preparation {
  readonly firstKeptEntryId: string;
  readonly messagesToSummarize: readonly AgentMessage[];
  readonly turnPrefixMessages?: readonly AgentMessage[];
  readonly tokensBefore: number;
  readonly previousSummary?: string | undefined;
  readonly files?: FileLists;
}

/** The arguments of a summary request, which older and newer callers pass in different positions. */
interface Asked {
  readonly model: Model;
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly focus?: string | undefined;
  readonly previousSummary?: string | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  readonly streamFn?: ProviderStream | undefined;
}

/** pi's functions to cut and summarise conversations; `stream` is used unless one is passed. */
export function piCompaction(stream: () => Promise<ProviderStream>): object {
  const ask = (text: string, asked: Asked) => summarize(text, asked, stream);
  const generate = async (...given: readonly unknown[]) => {
    const [messages, model, , apiKey, ...rest] = given as [AgentMessage[], Model, number, string];
    const asked = { model, apiKey, ...restOf(rest) };
    return ask(historyRequest(messages, asked), asked);
  };
  return {
    generateSummary: async (...given: readonly unknown[]) => (await generate(...given)).text,
    generateSummaryWithUsage: generate,
    compact: (preparation: Preparation, model: Model, apiKey?: string, ...rest: unknown[]) =>
      compact(preparation, { model, apiKey, ...restOf(rest) }, ask),
    generateBranchSummary: (entries: readonly SessionEntry[], asked: BranchAsked) =>
      branchSummary(entries, asked, ask),
    ...cuts(),
  };
}

type Ask = (text: string, asked: Asked) => Promise<{ text: string; usage: Usage }>;

/** The arguments after the key: headers, signal, focus and others, some of which older callers omit. */
function restOf(rest: readonly unknown[]): Partial<Asked> {
  const texts = rest.filter((value) => typeof value === "string") as string[];
  const [focus, previousSummary] = texts.filter((text) => !isThinkingLevel(text));
  const first = rest[0];
  const isHeaders = typeof first === "object" && first !== null && !(first instanceof AbortSignal);
  return {
    focus,
    previousSummary,
    signal: rest.find((value) => value instanceof AbortSignal),
    streamFn: rest.find((value) => typeof value === "function") as ProviderStream | undefined,
    thinkingLevel: texts.find(isThinkingLevel),
    ...(isHeaders ? { headers: first as Record<string, string> } : {}),
  };
}

function historyRequest(
  messages: readonly AgentMessage[],
  { previousSummary, focus }: Partial<Asked>,
): string {
  const instructions =
    previousSummary === undefined ? firstSummaryInstructions : updatedSummaryInstructions;
  const conversation = serializeConversation(messages);
  return summaryRequest(conversation, instructions, { previousSummary, focus });
}

async function summarize(
  text: string,
  asked: Asked,
  stream: () => Promise<ProviderStream>,
): Promise<{ text: string; usage: Usage }> {
  const { model, apiKey, headers, signal, thinkingLevel: reasoning, streamFn } = asked;
  const open = streamFn ?? (await stream());
  const context = {
    systemPrompt: summarySystemPrompt,
    messages: [{ role: "user", content: text, timestamp: Date.now() }],
  };
  const replies = (await open(model, context, {
    apiKey,
    headers,
    signal,
    reasoning,
  })) as unknown as {
    result(): Promise<AssistantMessage>;
  };
  const reply = await replies.result();
  if (signal?.aborted || reply.stopReason === "aborted") {
    throw new SessionError("compaction_cancelled");
  }
  if (reply.stopReason === "error") {
    throw new SessionError("summary_failed", {
      reason: reply.errorMessage ?? "the request failed",
    });
  }
  return { text: contentText(reply.content).trim(), usage: reply.usage };
}

async function compact(preparation: Preparation, asked: Asked, ask: Ask) {
  const { messagesToSummarize, turnPrefixMessages = [], firstKeptEntryId } = preparation;
  const { previousSummary, tokensBefore } = preparation;
  const summaries: { text: string; usage: Usage }[] = [];
  if (messagesToSummarize.length > 0 || previousSummary !== undefined) {
    const request = historyRequest(messagesToSummarize, { ...asked, previousSummary });
    summaries.push(await ask(request, asked));
  }
  if (turnPrefixMessages.length > 0) {
    const conversation = serializeConversation(turnPrefixMessages);
    summaries.push(await ask(summaryRequest(conversation, turnPrefixInstructions), asked));
  }
  const all = [...messagesToSummarize, ...turnPrefixMessages];
  const files = preparation.files ?? collectFiles(all, undefined);
  const text = summaries.map((summary) => summary.text).join("\n\n---\n\n");
  return {
    summary: `${text}${renderFileLists(files)}`,
    firstKeptEntryId,
    tokensBefore,
    details: files,
    ...(summaries[0] === undefined ? {} : { usage: summaries[0].usage }),
  };
}

type BranchAsked = Asked & {
  readonly customInstructions?: string;
  readonly replaceInstructions?: boolean;
};

async function branchSummary(entries: readonly SessionEntry[], asked: BranchAsked, ask: Ask) {
  const { customInstructions, replaceInstructions } = asked;
  const { messages } = branchMessages(entries);
  const files = collectFiles(messages, undefined);
  const instructions =
    replaceInstructions === true && customInstructions !== undefined
      ? customInstructions
      : branchSummaryInstructions;
  const focus = instructions === customInstructions ? undefined : customInstructions;
  try {
    const request = summaryRequest(serializeConversation(messages), instructions, { focus });
    const { text, usage } = await ask(request, asked);
    return { summary: `${text}${renderFileLists(files)}`, usage, ...files };
  } catch (error) {
    if (error instanceof SessionError && error.code === "compaction_cancelled") {
      return { aborted: true };
    }
    return { error: errorMessage(error) };
  }
}

/** The messages of entries, the newest first, within the budget; 0 means none. */
function branchMessages(entries: readonly SessionEntry[], budgetTokens = 0) {
  const { messages, totalTokens } = newestWithin(entries, budgetTokens || Number.POSITIVE_INFINITY);
  const { readFiles, modifiedFiles } = collectFiles(messages, undefined);
  const fileOps = {
    read: new Set(readFiles),
    written: new Set<string>(),
    edited: new Set(modifiedFiles),
  };
  return { messages, fileOps, totalTokens };
}

/** Functions that find where to cut conversations, and which entries are included. */
function cuts() {
  return {
    prepareBranchEntries: branchMessages,
    collectEntriesForBranchSummary: (
      session: Pick<ReadonlySession, "getBranch">,
      oldLeafId: string | null,
      targetId: string,
    ) => {
      if (oldLeafId === null) return { entries: [], commonAncestorId: null };
      const kept = new Set(session.getBranch(targetId).map(({ id }) => id));
      const left = session.getBranch(oldLeafId);
      const commonAncestorId = left.findLast(({ id }) => kept.has(id))?.id ?? null;
      return { entries: left.filter(({ id }) => !kept.has(id)), commonAncestorId };
    },
    findCutPoint: (
      entries: readonly SessionEntry[],
      start: number,
      end: number,
      keepRecentTokens: number,
    ) => {
      const cut = findCutPoint(entries.slice(start, end), keepRecentTokens);
      const firstKeptEntryIndex = start + (cut?.firstKept ?? 0);
      const isSplitTurn = cut !== undefined && cut.turnStart < cut.firstKept;
      const turnStartIndex = isSplitTurn ? start + cut.turnStart : -1;
      return { firstKeptEntryIndex, turnStartIndex, isSplitTurn };
    },
    findTurnStartIndex: (entries: readonly SessionEntry[], index: number, start: number) => {
      for (let at = index; at >= start; at--) {
        const entry = entries[at];
        const message = entry && messageOf(entry);
        if (message?.role === "user" || message?.role === "bashExecution") return at;
      }
      return -1;
    },
    sessionEntryToContextMessages: (entry: SessionEntry): AgentMessage[] =>
      entry.type === "compaction"
        ? [{ ...summaryOf(entry) }]
        : [messageOf(entry)].filter((message) => message !== undefined),
    buildContextEntries: (entries: readonly SessionEntry[], leafId?: string | null) => {
      const tree = new SessionTree();
      for (const entry of entries) tree.adopt(entry);
      const { compaction, entries: counting } = contextEntries(tree.branch(leafId));
      return compaction === undefined ? [...counting] : [compaction, ...counting];
    },
  };
}

function summaryOf(entry: SessionEntry): AgentMessage {
  const { summary, tokensBefore } = entry as SessionEntry & {
    summary: string;
    tokensBefore: number;
  };
  const timestamp = Date.parse(entry.timestamp);
  return { role: "compactionSummary", summary, tokensBefore, timestamp };
}
