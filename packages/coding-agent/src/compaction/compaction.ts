import type { CompactionResult, SessionOnlyEvent, TodoItem } from "@tau-agent/rpc-protocol";
import type { Model, Usage } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { type Conversation, entriesForContext } from "@tau-agent/sessions/log";
import { unlessAborted, whenAborted } from "@tau-agent/system";
import { todoSection } from "../todos/todo-text.ts";
import { contextTokens } from "./estimate.ts";
import {
  type CompactionLimits,
  type CompactionPreparation,
  fitLimits,
  type LimitSettings,
  limitsBelow,
  prepareCompaction,
} from "./prepare.ts";
import { shownEntry } from "./shown-entry.ts";
import type { SummarizerOptions } from "./summarize.ts";
import { accountForSummary, type NoteUsage } from "./summary-costs.ts";

export type CompactionReason = "manual" | "threshold" | "overflow";

export type CompactionDecision =
  | { readonly cancel: true }
  | { readonly compaction: CompactionResult }
  | undefined;

export interface CompactionOptions extends SummarizerOptions {
  readonly conversation: Pick<Conversation, "log" | "messages" | "results" | "append" | "adopt">;
  readonly model: () => Model | undefined;
  /** The session's todo list, which the model needs afterwards. */
  readonly todos: () => readonly TodoItem[];
  readonly emit: (event: SessionOnlyEvent) => void | Promise<void>;
  /** Called when a compaction has changed the prefix of requests. */
  readonly onCompacted: () => void;
  /** Asks extensions first; they may cancel or provide their own summary. */
  readonly decide?:
    | ((
        preparation: CompactionPreparation & { readonly tokensBefore: number },
        request: CompactionRequest,
        signal: AbortSignal,
      ) => Promise<CompactionDecision>)
    | undefined;
}

export interface CompactionRequest {
  readonly reason: CompactionReason;
  readonly customInstructions?: string | undefined;
  /** Whether the run continues automatically afterwards. */
  readonly willRetry?: boolean | undefined;
}

interface SummaryWork extends CompactionRequest {
  readonly tokensBefore: number;
  readonly note: NoteUsage;
}

interface Outcome {
  /** As `describePast` returns it. */
  readonly past: unknown;
  readonly result: CompactionResult;
  readonly usage: Usage | undefined;
  readonly fromHook: boolean;
}

/** Replaces the older part of a conversation with a summary, whatever the reason for the compaction. */
export class Compaction {
  readonly #options: CompactionOptions;
  #controller: AbortController | undefined;
  /** Whether the last automatic compaction did not help: the next one waits for the next prompt. */
  #isFutile = false;

  constructor(options: CompactionOptions) {
    this.#options = options;
  }

  /** Whether a compaction is running. */
  get isRunning(): boolean {
    return this.#controller !== undefined;
  }

  /** Whether automatic compaction is on. */
  get isEnabled(): boolean {
    return this.#options.settings.get("compaction.enabled");
  }

  /** Whether the conversation exceeds its limit and can be shortened. */
  get isDue(): boolean {
    const { settings } = this.#options;
    const model = this.#options.model();
    if (!settings.get("compaction.enabled") || this.#isFutile || model === undefined) return false;
    const { dueTokens } = this.#limits(model);
    if (this.#tokens <= dueTokens) return false;
    return typeof this.#prepare(model) !== "string";
  }

  /** How many tokens of a model's context window a conversation may use. */
  roomOf(model: Model): number {
    return fitLimits(
      { ...this.#settingsFor(model), thresholdTokens: undefined },
      model.contextWindow,
    ).dueTokens;
  }

  /** Notes a new prompt, which changes what a compaction can achieve. */
  notePrompt(): void {
    this.#isFutile = false;
  }

  /** Stops the current compaction and leaves the conversation unchanged. */
  abort(): void {
    this.#controller?.abort();
  }

  /**
   * Compacts now and reports it as events.
   *
   * @throws {SessionError} `nothing_to_compact`, `already_compacted`, `compaction_cancelled`,
   *   `summary_failed`, `no_model`; the session is then unchanged.
   */
  async run(request: CompactionRequest, signal?: AbortSignal): Promise<CompactionResult> {
    if (this.#controller !== undefined) throw new SessionError("compaction_running");
    const controller = new AbortController();
    this.#controller = controller;
    const leave = whenAborted(signal, () => controller.abort());
    const { reason } = request;
    try {
      await this.#emitStart(reason);
      const result = await this.#compact(request, controller.signal);
      this.#controller = undefined;
      await this.#emitEnd(reason, {
        result,
        aborted: false,
        willRetry: request.willRetry ?? false,
      });
      return result;
    } catch (error) {
      this.#controller = undefined;
      this.#isFutile = true;
      const failure = controller.signal.aborted ? new SessionError("compaction_cancelled") : error;
      // A veto by an extension is not a failure.
      const aborted = failure instanceof SessionError && failure.code === "compaction_cancelled";
      const message = failure instanceof Error ? failure.message : String(failure);
      await this.#emitEnd(reason, {
        result: null,
        aborted,
        willRetry: false,
        ...(aborted ? {} : { errorMessage: message }),
      });
      throw failure;
    } finally {
      leave();
    }
  }

  /** Compacts if it is due; its events report the outcome. */
  async runWhenDue(signal: AbortSignal | undefined): Promise<void> {
    // Between the turns of a run as well, because one large tool result may fill the window. If it
    // fails, the request is sent anyway.
    if (this.isDue) await this.run({ reason: "threshold" }, signal).catch(() => undefined);
  }

  async #compact(request: CompactionRequest, signal: AbortSignal): Promise<CompactionResult> {
    const { conversation, decide } = this.#options;
    const model = this.#options.model();
    if (model === undefined) throw new SessionError("no_model");
    const preparation = this.#prepare(model, request.reason);
    if (typeof preparation === "string") throw new SessionError(preparation);
    const tokensBefore = this.#tokens;
    const asked = decide?.({ ...preparation, tokensBefore }, request, signal);
    // A slow extension must not delay an abort.
    const decision =
      asked && (await unlessAborted(asked, signal, () => new SessionError("compaction_cancelled")));
    if (decision && "cancel" in decision) throw new SessionError("compaction_cancelled");
    const account = { conversation, budget: this.#options.budget };
    const result = await accountForSummary(account, async (note, total) => {
      const made =
        decision?.compaction ??
        (await this.#summarize(preparation, { ...request, tokensBefore, note }, signal));
      const past = await this.#describePast(made.firstKeptEntryId);
      if (signal.aborted) throw new SessionError("compaction_cancelled");
      this.#adopt({ result: made, usage: total(), fromHook: decision !== undefined, past });
      return made;
    });
    this.#isFutile = this.#tokens >= tokensBefore;
    return result;
  }

  get #tokens(): number {
    const { messages, results } = this.#options.conversation;
    return contextTokens(messages, results);
  }

  #prepare(model: Model, reason?: CompactionReason): ReturnType<typeof prepareCompaction> {
    const { conversation } = this.#options;
    const { log, results } = conversation;
    const branch = entriesForContext(log.tree).map((entry) => shownEntry(entry, results));
    const limits = this.#limits(model);
    const isTooLarge = reason === "overflow";
    return prepareCompaction(
      branch,
      isTooLarge ? limitsBelow(limits, conversation.messages) : limits,
    );
  }

  async #summarize(
    preparation: CompactionPreparation,
    { customInstructions, tokensBefore, note }: SummaryWork,
    signal: AbortSignal,
  ): Promise<CompactionResult> {
    // Loaded on demand, because most hosts never compact (bench row `start`).
    const { summarizePreparation } = await import("./summarize-preparation.ts");
    const { model } = await this.#options.prepareRequest();
    const text = await summarizePreparation(preparation, signal, {
      ...this.#options,
      model,
      reserveTokens: this.#settingsFor(model).reserveTokens,
      note,
      focus: customInstructions,
    });
    const summary = text + todoSection(this.#options.todos());
    const { firstKeptEntryId, files } = preparation;
    return { summary, firstKeptEntryId, tokensBefore, details: files };
  }

  /**
   * Describes the past so that hosts can open the session without reading it; a failure here does not fail the
   * compaction.
   */
  async #describePast(firstKeptEntryId: string): Promise<unknown> {
    const { path } = this.#options.conversation.log;
    if (path === undefined) return undefined;
    const { describePast } = await import("@tau-agent/sessions/files");
    return describePast(path, firstKeptEntryId).catch(() => undefined);
  }

  #adopt({ result, usage, fromHook, past }: Outcome): void {
    const { summary, firstKeptEntryId, tokensBefore, details } = result;
    this.#options.conversation.adopt({
      type: "compaction",
      summary,
      firstKeptEntryId,
      tokensBefore,
      ...(details === undefined ? {} : { details }),
      ...(fromHook ? { fromHook } : {}),
      ...(usage === undefined ? {} : { usage }),
      ...(past === undefined ? {} : { past }),
    });
    this.#options.onCompacted();
  }

  #limits(model: Model): CompactionLimits {
    return fitLimits(this.#settingsFor(model), model.contextWindow);
  }

  #settingsFor(model: Model): LimitSettings {
    const { settings } = this.#options;
    const own = settings.get("compaction.modelOverrides")[`${model.provider}/${model.id}`];
    return {
      reserveTokens: settings.get("compaction.reserveTokens"),
      keepRecentTokens: settings.get("compaction.keepRecentTokens"),
      thresholdTokens: settings.get("compaction.thresholdTokens"),
      ...own,
    };
  }

  async #emitStart(reason: CompactionReason): Promise<void> {
    const { emit } = this.#options;
    await (reason === "manual"
      ? emit({ type: "compaction_start", reason })
      : emit({ type: "auto_compaction_start", reason }));
  }

  async #emitEnd(
    reason: CompactionReason,
    end: Pick<
      Extract<SessionOnlyEvent, { type: "auto_compaction_end" }>,
      "result" | "aborted" | "willRetry" | "errorMessage"
    >,
  ): Promise<void> {
    const { emit } = this.#options;
    await (reason === "manual"
      ? emit({ type: "compaction_end", reason, ...end })
      : emit({ type: "auto_compaction_end", reason, ...end }));
  }
}
