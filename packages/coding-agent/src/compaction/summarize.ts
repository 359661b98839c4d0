import type { ModelRequest } from "@tau-agent/agent";
import { isProviderError, type StreamFunction, type StreamResult } from "@tau-agent/ai";
import type { Retry } from "@tau-agent/models";
import type { AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { SettingsStore } from "@tau-agent/system";
import type { NoteUsage, UsageBudget } from "./summary-costs.ts";
import { summarySystemPrompt } from "./summary-prompts.ts";

/** What a summary needs. */
export interface SummarizerOptions {
  readonly stream: StreamFunction;
  readonly settings: Pick<SettingsStore, "get">;
  /** The session's model and key, requested for each request. */
  readonly prepareRequest: () => Promise<ModelRequest>;
  readonly retry: Pick<Retry, "prepareNext">;
  /** Gets the usage of the requests for a summary once they are over. */
  readonly budget: UsageBudget;
}

/**
 * Asks the session's model for a summary and returns its text, without tools and outside of the
 * session's prompt cache. Transient failures are retried as for turns.
 *
 * @throws {SessionError} `summary_failed`; `compaction_cancelled` if aborted
 */
export async function summarize(
  text: string,
  signal: AbortSignal,
  options: Omit<SummarizerOptions, "budget"> & {
    readonly note: NoteUsage;
    /** Names the request in errors, where a summary takes several. */
    readonly label?: string | undefined;
  },
): Promise<string> {
  const { retry, note, label } = options;
  if (signal.aborted) throw new SessionError("compaction_cancelled");
  let hasRenewed = false;
  for (let count = 0; ; count++) {
    const { message, error } = await request(text, signal, options);
    note(message.usage);
    if (signal.aborted) throw new SessionError("compaction_cancelled");
    if (message.stopReason !== "error") return summaryOf(message, { label });
    const failure = isProviderError(error) ? error : undefined;
    const failed = { error: failure, provider: message.provider };
    const next = await retry.prepareNext(failed, { count, hasRenewed }, signal);
    if (signal.aborted) throw new SessionError("compaction_cancelled");
    if (!next.goesOn) return summaryOf(message, { label, cause: failure });
    hasRenewed = next.hasRenewed;
  }
}

async function request(
  text: string,
  signal: AbortSignal,
  { stream, prepareRequest }: Pick<SummarizerOptions, "stream" | "prepareRequest">,
): Promise<StreamResult> {
  const { model, options } = await prepareRequest();
  const context = {
    systemPrompt: summarySystemPrompt,
    messages: [{ role: "user" as const, content: text, timestamp: Date.now() }],
  };
  const reply = stream(model, context, {
    ...options,
    signal,
    cacheRetention: "none",
    sessionId: options.sessionId && `${options.sessionId}-summary`,
  });
  for (;;) {
    const step = await reply.next();
    if (step.done) return step.value;
  }
}

/** A truncated summary would lose what it did not reach, so use none. */
function summaryOf(
  message: AssistantMessage,
  { label, cause }: { readonly label: string | undefined; readonly cause?: unknown },
): string {
  const fail = (text: string): never => {
    const reason = label === undefined ? text : `${label}: ${text}`;
    throw new SessionError("summary_failed", { reason }, { cause });
  };
  if (message.stopReason === "error") fail(message.errorMessage ?? "the request failed");
  if (message.stopReason === "length") fail("the summary hit the model's output limit");
  const text = message.content
    .map((block) => (block.type === "text" ? block.text : ""))
    .join("")
    .trim();
  if (text === "") fail("the model returned no text");
  return text;
}
