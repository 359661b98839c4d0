import type { AgentTool, ModelRequest } from "@tau-agent/agent";
import {
  appendsTools,
  type CacheRetention,
  clampThinkingLevel,
  hasOutputForm,
  type StreamOptions,
} from "@tau-agent/ai";
import { type AnsweringModel, isLocalUrl, type ModelSelection } from "@tau-agent/models";
import type { AgentMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { type Diagnostic, LastKept, type SettingsStore } from "@tau-agent/system";
import { textTokens } from "../compaction/text-tokens.ts";
import type { SessionBudget } from "../subagents/budgets/session-budget.ts";
import { ASK_USER } from "../tools/ask-user/definition.ts";
import type { ToolSet } from "../tools/tool-set.ts";
import { cacheRetentionOf } from "./cache-retention.ts";
import type { OpenOutputs } from "./open-outputs.ts";
import type { Setup } from "./past-requests.ts";
import type { RequestSetup, WantedSetup } from "./request-setup.ts";
import type { SessionHooks } from "./session-hooks.ts";

export interface ModelRequestsOptions {
  readonly models: ModelSelection;
  /** Determines the model for a request. */
  readonly answering: AnsweringModel;
  readonly settings: SettingsStore;
  readonly tools: ToolSet;
  /** Whether the model can ask a person. */
  readonly offersQuestions: () => boolean;
  /** Waits for the tools that a request declares. */
  readonly toolsReady?: (() => Promise<unknown>) | undefined;
  /** Refuses requests once the budget is used up. */
  readonly budget: Pick<SessionBudget, "check" | "admit">;
  readonly hooks?: Pick<SessionHooks, "systemPrompt" | "headers"> | undefined;
  readonly systemPrompt: (tools: readonly AgentTool[]) => Promise<string>;
  /** Stores the beginning of requests. */
  readonly setup: RequestSetup;
  readonly sessionId: () => string;
  readonly messages: () => readonly AgentMessage[];
  /** The answers that prompts still need. */
  readonly outputs: Pick<OpenOutputs, "current">;
  /** Looks for a model if there is none: a server may have been started. */
  readonly findModel?: (() => Promise<Model | undefined>) | undefined;
  /** Receives a diagnostic for anything that a request had to leave out. */
  readonly onDiagnostic: (diagnostic: Diagnostic) => void;
}

/** Assembles everything that a request to the model needs in addition to the conversation. */
export class ModelRequests {
  readonly #options: ModelRequestsOptions;
  /** Built once for a set of tools: every request starts with it, and prompt caches depend on its bytes. */
  #systemPrompt:
    | { readonly tools: readonly AgentTool[]; readonly text: Promise<string> }
    | undefined;
  /** Kept so that encoded messages can be reused. */
  #blind: { readonly of: Model; readonly model: Model } | undefined;
  readonly #firstEventLimit = new LastKept<number>();

  constructor(options: ModelRequestsOptions) {
    this.#options = options;
  }

  /** The system prompt for the declared tools, built on first use. */
  systemPrompt(): Promise<string> {
    const tools = this.#options.tools.named;
    if (this.#systemPrompt?.tools !== tools) {
      this.#systemPrompt = { tools, text: this.#options.systemPrompt(tools) };
    }
    return this.#systemPrompt.text;
  }

  /** Tells the model which instruction files have changed since the instructions at the beginning of its requests. */
  async tellChanges(): Promise<void> {
    const { setup } = this.#options;
    if (setup.isKept) setup.tellChanges(await this.systemPrompt());
  }

  /** To be called when the inputs of the system prompt have changed. */
  forgetSystemPrompt(): void {
    this.#systemPrompt = undefined;
  }

  /**
   * Refuses a prompt that could never be answered, before anything happens.
   *
   * @throws {SessionError} `no_model`, `no_key`, `key_unresolved`, `budget_exceeded`
   */
  async check(): Promise<void> {
    const { budget, models, answering, findModel } = this.#options;
    budget.check();
    if (models.model === undefined) {
      const found = await findModel?.();
      if (found !== undefined && models.model === undefined) models.use(found);
    }
    const model = answering.firstModel;
    if (model === undefined) throw new SessionError("no_model");
    try {
      await models.registry.keys.require(model.provider, model.id);
    } catch (error) {
      // The run will notice this, and ask a fallback.
      if (!(error instanceof SessionError) || !answering.mayFollow(error.code)) throw error;
    }
  }

  /**
   * Everything for the next request, with the current model, level and key.
   *
   * @param other - a model to use instead of the session's
   * @throws {SessionError} as {@link check}
   */
  async prepare(
    initiator: StreamOptions["initiator"] = "agent",
    other?: Model,
  ): Promise<ModelRequest> {
    const { settings, sessionId, messages, hooks, budget, outputs, onDiagnostic } = this.#options;
    await budget.admit();
    const { registry } = this.#options.models;
    const { thinkingLevel } = this.#options.answering;
    const model = other ?? this.#options.answering.model;
    if (model === undefined) throw new SessionError("no_model");
    await this.#options.toolsReady?.();
    this.#offerQuestions();
    const [auth, systemPrompt] = await Promise.all([
      registry.requestAuth(model),
      this.systemPrompt(),
    ]);
    const tools = this.#options.tools.declaredFor(appendsTools(model));
    // A request to another model, such as for a summary, does not belong to the conversation.
    const wanted = { system: systemPrompt, tools };
    const setup = other === undefined ? this.#settle(wanted) : wanted;
    const headers = hooks === undefined ? auth.headers : await hooks.headers(auth.headers);
    return {
      model: this.#shown(model),
      systemPrompt: hooks?.systemPrompt(setup.system) ?? setup.system,
      tools: this.#options.tools.callable,
      declared: setup.tools,
      earlier: other === undefined ? this.#options.setup.takeEarlier(model, messages()) : undefined,
      options: {
        ...auth,
        initiator,
        outputSchema: hasOutputForm(model, setup.tools.length > 0)
          ? outputs.current?.wireSchema
          : undefined,
        headers,
        thinkingLevel: clampThinkingLevel(model, thinkingLevel),
        thinkingBudgets: settings.get("thinkingBudgets"),
        sessionId: sessionId(),
        cacheRetention: this.#retention(auth.environment),
        maxTokens: settings.get("maxOutputTokens") || undefined,
        idleTimeoutMs: settings.get("httpIdleTimeoutMs"),
        firstEventTimeoutMs:
          settings.get("retry.provider.timeoutMs") ??
          this.#firstEventLimit.get(model.baseUrl, () => firstEventLimit(model)),
        onDiagnostic: ({ message }) => onDiagnostic({ severity: "warning", message }),
        maxRetryDelayMs: settings.get("retry.maxDelayMs"),
      },
    };
  }

  /** Decided at a session's first request, for all of its requests. */
  #offerQuestions(): void {
    const { tools, setup, offersQuestions } = this.#options;
    tools.need(ASK_USER, setup.declares(ASK_USER) ?? offersQuestions());
  }

  #settle(wanted: WantedSetup): Setup {
    const { tools, setup } = this.#options;
    const settled = setup.settle(wanted);
    tools.noteRequested(settled.tools);
    return settled;
  }

  /** The cache lifetime for requests to a model. */
  async retentionFor({ provider }: Model): Promise<CacheRetention> {
    const { keys } = this.#options.models.registry;
    return this.#retention(await keys.environmentOf(provider));
  }

  #retention(environment: Readonly<Record<string, string | undefined>> = {}): CacheRetention {
    const { settings, messages } = this.#options;
    const { PI_CACHE_RETENTION } = environment;
    return cacheRetentionOf(PI_CACHE_RETENTION, settings.get("cacheRetention"), messages());
  }

  /** The estimated tokens of a request without the conversation. */
  async setupTokens(): Promise<number> {
    const tools = this.#options.tools.active.map(({ name, description, parameters }) =>
      JSON.stringify({ name, description, parameters }),
    );
    return textTokens(await this.systemPrompt()) + textTokens(tools.join("\n"));
  }

  /** If images are blocked, the model is presented as one without image input, so that history leaves them out. */
  #shown(model: Model): Model {
    if (!this.#options.settings.get("images.blockImages")) return model;
    if (this.#blind?.of !== model) {
      this.#blind = { of: model, model: { ...model, input: ["text"] } };
    }
    return this.#blind.model;
  }
}

/** A server on this machine may have to load the model first. */
function firstEventLimit({ baseUrl }: Model): number {
  return isLocalUrl(baseUrl) ? 600_000 : 120_000;
}
