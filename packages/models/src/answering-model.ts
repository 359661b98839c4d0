import type { SessionOnlyEvent } from "@tau-agent/rpc-protocol";
import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { type Diagnostic, type SettingsStore, unlessAborted } from "@tau-agent/system";
import { type FallbackReason, fallbackReason, modelsToTry } from "./fallback-choice.ts";
import type { ModelSelection } from "./model-selection.ts";
import { modelName } from "./resolver.ts";

/** A fallback as recorded in a session's log. */
export interface NotedFallback {
  /** The name of the chosen model that it replaces. */
  readonly chosen: string;
  readonly to: string;
  /** When the chosen model failed, in ms since the epoch. */
  readonly failedAt: number;
}

export interface AnsweringModelOptions {
  readonly models: ModelSelection;
  /** The fallbacks, in the order in which they are tried. */
  readonly fallbacks: readonly Model[];
  readonly settings: Pick<SettingsStore, "get">;
  /** Default: the system's clock. */
  readonly now?: (() => number) | undefined;
  /** The latest fallback of the branch, as recorded by {@link note}. */
  readonly noted: () => NotedFallback | undefined;
  /** Records which model answers instead of the chosen one. */
  readonly note: (fallback: NotedFallback & { from: string; reason: FallbackReason }) => void;
  readonly emit: (event: SessionOnlyEvent) => void | Promise<void>;
  readonly requestTokens: () => Promise<number>;
  /** How many tokens a conversation with this model may take. */
  readonly roomOf: (model: Model) => number;
  readonly onDiagnostic: (diagnostic: Diagnostic) => void;
}

/** A failed request that is not retried. */
export interface FinalFailure {
  readonly code: string | undefined;
  /** The size of the request in tokens, if it is not the next one of the conversation. */
  readonly tokens?: number | undefined;
}

/** The model that will answer instead of a failed one. */
export interface Fallback {
  readonly from: Model;
  readonly to: Model;
  readonly reason: FallbackReason;
}

interface StandIn {
  /** The name of the chosen model. */
  readonly chosen: string;
  readonly model: Model;
  readonly reason: FallbackReason;
  readonly failedAt: number;
}

/**
 * Decides which model answers: the chosen one or, while that one fails, a fallback. The chosen model is
 * tried again with the first prompt after `fallback.cooldownMs`.
 */
export class AnsweringModel {
  readonly #options: AnsweringModelOptions;
  #standIn: StandIn | undefined;
  /** The models that have failed since the last successful reply. */
  readonly #tried = new Set<string>();
  /** No fallback was left, so the next prompt starts with the chosen model. */
  #isExhausted = false;

  constructor(options: AnsweringModelOptions) {
    this.#options = options;
  }

  /** The model of the next request; undefined if none is available. */
  get model(): Model | undefined {
    return this.#current?.model ?? this.#options.models.model;
  }

  /** The effective level: the requested one, limited to what the model supports. */
  get thinkingLevel(): ThinkingLevel {
    return this.#options.models.levelOf(this.model);
  }

  /** The model with which the next prompt starts. */
  get firstModel(): Model | undefined {
    return this.#isDueBack() ? this.#options.models.model : this.model;
  }

  /** Called when a prompt begins. */
  begin(): void {
    if (this.#isDueBack()) this.#standIn = undefined;
    this.#isExhausted = false;
    this.#tried.clear();
    const standIn = this.#current;
    if (standIn === undefined) return;
    const { chosen, model, reason, failedAt } = standIn;
    const noted = this.#options.noted();
    // In another session or branch: without a note, reading the reply again would make its model the chosen one.
    if (noted?.chosen === chosen && noted.to === modelName(model)) return;
    this.#options.note({ chosen, from: chosen, to: modelName(model), reason, failedAt });
  }

  /** Called when a model is chosen, even if it is the same one. */
  reset(): void {
    this.#standIn = undefined;
    this.#tried.clear();
  }

  /** Continues with the fallback recorded in a session's log, if any. */
  restore(noted: NotedFallback | undefined): void {
    if (noted === undefined) return;
    const { chosen, to, failedAt } = noted;
    const model = this.#options.fallbacks.find((fallback) => modelName(fallback) === to);
    if (model !== undefined) this.#standIn = { chosen, model, reason: "overloaded", failedAt };
  }

  /** Called after a successful reply. */
  noteReply(): void {
    this.#tried.clear();
  }

  /** Whether a fallback may follow a failure of this kind. */
  mayFollow(code: string | undefined): boolean {
    return this.#options.fallbacks.length > 0 && this.#reasonOf(code) !== undefined;
  }

  /** The model that will answer after a failure; undefined if none can. */
  async find({ code, tokens }: FinalFailure, signal?: AbortSignal): Promise<Fallback | undefined> {
    const { models, fallbacks, requestTokens } = this.#options;
    const reason = this.#reasonOf(code);
    const from = this.model;
    const chosen = models.model;
    if (reason === undefined || from === undefined || chosen === undefined) return undefined;
    const failed = modelName(from);
    this.#tried.add(failed);
    const byName = new Map([chosen, ...fallbacks].map((model) => [modelName(model), model]));
    const names = modelsToTry({
      chosen: modelName(chosen),
      fallbacks: fallbacks.map(modelName),
      failed,
      tried: this.#tried,
    });
    const needed = names.length === 0 ? 0 : (tokens ?? (await requestTokens()));
    for (const name of names) {
      const to = byName.get(name);
      if (to === undefined) continue;
      // An abort must not wait for a key.
      const asked = unlessAborted(this.#problemOf(to, needed), signal);
      const problem = await asked.catch(errorMessage);
      if (signal?.aborted) return undefined;
      if (problem === undefined) return { from, to, reason };
      const message = `The fallback ${name} was skipped: ${problem}`;
      this.#options.onDiagnostic({ severity: "warning", code: "fallback_skipped", message });
    }
    this.#isExhausted = true;
    return undefined;
  }

  /** Makes a model that {@link find} has found answer. */
  async use({ from, to, reason }: Fallback): Promise<void> {
    const { models, note, emit, now = Date.now } = this.#options;
    // Another model was chosen meanwhile.
    if (models.model === undefined || this.model !== from) return;
    const chosen = modelName(models.model);
    const names = { from: modelName(from), to: modelName(to) };
    const failedAt = names.from === chosen ? now() : (this.#standIn?.failedAt ?? now());
    note({ chosen, ...names, reason, failedAt });
    this.#standIn = names.to === chosen ? undefined : { chosen, model: to, reason, failedAt };
    await emit({ type: "model_fallback", ...names, reason });
  }

  get #current(): StandIn | undefined {
    const { model } = this.#options.models;
    if (this.#standIn === undefined || model === undefined) return undefined;
    return this.#standIn.chosen === modelName(model) ? this.#standIn : undefined;
  }

  #isDueBack(): boolean {
    const { settings, now = Date.now } = this.#options;
    if (this.#standIn === undefined) return false;
    return (
      this.#isExhausted || now() - this.#standIn.failedAt >= settings.get("fallback.cooldownMs")
    );
  }

  #reasonOf(code: string | undefined): FallbackReason | undefined {
    const found = code === "no_key" || code === "key_unresolved" ? "auth" : code;
    return fallbackReason(found, this.#options.settings.get("fallback.on"));
  }

  async #problemOf(model: Model, tokens: number): Promise<string | undefined> {
    const { models, roomOf } = this.#options;
    if (tokens > roomOf(model)) {
      return `the conversation does not fit its window of ${model.contextWindow} tokens.`;
    }
    try {
      await models.registry.requestAuth(model);
      return undefined;
    } catch (error) {
      return errorMessage(error);
    }
  }
}
