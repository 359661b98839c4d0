import type { ModelRequest } from "@tau-agent/agent";
import { isProviderError, type StreamFunction, type StreamResult } from "@tau-agent/ai";
import type { AnsweringModel, Retry } from "@tau-agent/models";
import type { AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import { contentText, SessionError } from "@tau-agent/rpc-protocol/plain";
import type { SettingsStore } from "@tau-agent/system";
import type { NoteUsage, UsageBudget } from "./summary-costs.ts";
import { summarySystemPrompt } from "./summary-prompts.ts";
import { textTokens } from "./text-tokens.ts";

export interface SummarizerOptions {
  readonly stream: StreamFunction;
  readonly settings: Pick<SettingsStore, "get">;
  readonly prepareRequest: () => Promise<ModelRequest>;
  readonly retry: Pick<Retry, "prepareNext">;
  /** The model that answers the session, and its fallbacks. */
  readonly answering: Pick<AnsweringModel, "model" | "find" | "use" | "noteReply">;
  /** Receives the usage of the summary requests once they have finished. */
  readonly budget: UsageBudget;
}

/**
 * Asks the session's model for a summary and returns its text, without tools and outside of the
 * session's prompt cache. Transient failures are retried as for turns, then with the fallbacks.
 *
 * @throws {SessionError} `summary_failed`; `compaction_cancelled` if aborted
 */
export async function summarize(
  text: string,
  signal: AbortSignal,
  options: Omit<SummarizerOptions, "budget"> & {
    readonly note: NoteUsage;
    /** Names the request in errors if a summary takes several. */
    readonly label?: string | undefined;
  },
): Promise<string> {
  const { retry, answering, note, label } = options;
  if (signal.aborted) throw new SessionError("compaction_cancelled");
  let made = { count: 0, hasRenewed: false };
  for (;;) {
    const { message, error } = await request(text, signal, options);
    note(message.usage);
    if (signal.aborted) throw new SessionError("compaction_cancelled");
    // A dedicated summary model is not the session's answering model.
    const isAnswering =
      message.provider === answering.model?.provider && message.model === answering.model.id;
    if (message.stopReason !== "error") {
      if (isAnswering) answering.noteReply();
      return summaryOf(message, { label });
    }
    const failure = isProviderError(error) ? error : undefined;
    const { provider, model: modelId } = message;
    const failed = { error: failure, provider, modelId };
    const { outcome, hasRenewed } = await retry.prepareNext(failed, made, signal);
    if (signal.aborted) throw new SessionError("compaction_cancelled");
    made = { count: made.count + 1, hasRenewed };
    if (outcome === "retry") continue;
    const tokens = textTokens(text) + textTokens(summarySystemPrompt);
    const fallback =
      outcome === "failed" && isAnswering
        ? await answering.find({ code: failure?.code, tokens }, signal)
        : undefined;
    if (signal.aborted) throw new SessionError("compaction_cancelled");
    if (fallback === undefined) return summaryOf(message, { label, cause: failure });
    await answering.use(fallback);
    made = { count: 0, hasRenewed: false };
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

/** A truncated summary would be incomplete, so it is refused. */
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
  const text = contentText(message.content).trim();
  if (text === "") fail("the model returned no text");
  return text;
}
