import { clampThinkingLevel, nextThinkingLevel, supportedThinkingLevels } from "@tau-agent/ai";
import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { nextModel } from "./initial-model.ts";
import type { ModelRegistry } from "./registry.ts";
import type { ScopedModel } from "./resolver.ts";

/** Receives changes of model or level, to write them to the session. */
export interface ModelSelectionOptions {
  readonly registry: ModelRegistry;
  readonly model: Model | undefined;
  /** The requested level; the effective one is clamped to the model. */
  readonly thinkingLevel: ThinkingLevel;
  /** The models of `--models`; empty to cycle through all available ones. */
  readonly scope: readonly ScopedModel[];
  readonly onModelChange: (model: Model, source: "set" | "cycle") => void;
  readonly onThinkingLevelChange: (level: ThinkingLevel) => void;
  /** Called with each choice, even if it is the same model. */
  readonly onChosen?: (() => void) | undefined;
}

/** Decides which model answers and how much it thinks. Changes apply to the next request. */
export class ModelSelection {
  readonly registry: ModelRegistry;
  readonly #options: ModelSelectionOptions;
  /** The models to cycle through; empty for all available ones. */
  scope: readonly ScopedModel[];
  #model: Model | undefined;
  /** The level the user asked for, remembered for models that support more than the current one. */
  #wantedLevel: ThinkingLevel;

  constructor(options: ModelSelectionOptions) {
    this.registry = options.registry;
    this.#options = options;
    this.scope = options.scope;
    this.#model = options.model;
    this.#wantedLevel = options.thinkingLevel;
  }

  /** The current model; undefined if none is available. */
  get model(): Model | undefined {
    return this.#model;
  }

  /** The effective level: the requested one, limited to what the model supports. */
  get thinkingLevel(): ThinkingLevel {
    return this.levelOf(this.#model);
  }

  /** The requested level, limited to what a model supports. */
  levelOf(model: Model | undefined): ThinkingLevel {
    return model === undefined ? this.#wantedLevel : clampThinkingLevel(model, this.#wantedLevel);
  }

  /** The models with a key. */
  available(): Promise<readonly Model[]> {
    return this.registry.available();
  }

  /**
   * Switches to a model.
   *
   * @throws {SessionError} `model_not_found`, `no_key`
   */
  async set(provider: string, modelId: string): Promise<Model> {
    const model = await this.registry.find(provider, modelId);
    if (model === undefined) {
      const denied = await this.registry.whyDenied({ model: `${provider}/${modelId}` });
      if (denied !== undefined) throw denied;
      const reason = await this.registry.whyNotOffered(provider, modelId);
      const why = reason === undefined ? "" : `. It is known, but cannot be used: ${reason}`;
      throw new SessionError("model_not_found", { model: `${provider}/${modelId}${why}` });
    }
    if (!(await this.registry.isAvailable(model)))
      await this.registry.keys.require(provider, modelId);
    this.use(model);
    return model;
  }

  /**
   * Switches to a given model object, including custom ones.
   *
   * @throws {SessionError} `policy_denied`
   */
  use(model: Model, source: "set" | "cycle" = "set"): void {
    this.registry.requireModel(model);
    const isSame = model.provider === this.#model?.provider && model.id === this.#model.id;
    const levelBefore = this.thinkingLevel;
    // Written first: a change that cannot be stored must not take effect.
    if (!isSame) this.#options.onModelChange(model, source);
    this.#model = model;
    this.#options.onChosen?.();
    if (this.thinkingLevel !== levelBefore) this.#options.onThinkingLevelChange(this.thinkingLevel);
  }

  /** Switches to the next model of the scope, or of all available ones; null if there is no other. */
  async cycle(): Promise<{ model: Model; thinkingLevel: ThinkingLevel; isScoped: boolean } | null> {
    const { scope } = this;
    const isScoped = scope.length > 0;
    const candidates = isScoped ? scope : (await this.available()).map((model) => ({ model }));
    const next: ScopedModel | undefined = nextModel(candidates, this.#model);
    if (next === undefined) return null;
    this.use(next.model, "cycle");
    if (next.thinkingLevel !== undefined) this.setThinkingLevel(next.thinkingLevel);
    return { model: next.model, thinkingLevel: this.thinkingLevel, isScoped };
  }

  /** Requests a level; the model gets the nearest one it supports. */
  setThinkingLevel(level: ThinkingLevel): void {
    const model = this.#model;
    const inForce = model === undefined ? level : clampThinkingLevel(model, level);
    if (inForce !== this.thinkingLevel) this.#options.onThinkingLevelChange(inForce);
    this.#wantedLevel = level;
  }

  /** The levels the model supports, lowest first; without a model only `off`. */
  thinkingLevels(): ThinkingLevel[] {
    return this.#model === undefined ? ["off"] : [...supportedThinkingLevels(this.#model)];
  }

  /** Switches to the next level the model supports; null if it cannot think. */
  cycleThinkingLevel(): { level: ThinkingLevel } | null {
    if (this.#model === undefined || supportedThinkingLevels(this.#model).length < 2) return null;
    const level = nextThinkingLevel(this.#model, this.thinkingLevel);
    if (level === undefined) return null;
    this.setThinkingLevel(level);
    return { level };
  }

  /** Adopts the session's values without writing them. */
  restore(model: Model | undefined, level: ThinkingLevel): void {
    this.#model = model;
    this.#wantedLevel = level;
  }
}
