import { clampThinkingLevel, nextThinkingLevel, supportedThinkingLevels } from "@tau-agent/ai";
import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "../base/errors.ts";
import { nextModel } from "./initial-model.ts";
import type { ModelRegistry } from "./registry.ts";
import type { ScopedModel } from "./resolver.ts";

/** What a change of model or level tells its owner, to be written into the session. */
export interface ModelSelectionOptions {
  readonly registry: ModelRegistry;
  readonly model: Model | undefined;
  /** The level wanted; what is in force is this clamped to the model. */
  readonly thinkingLevel: ThinkingLevel;
  /** The models of `--models`; empty when all available ones are cycled through. */
  readonly scope: readonly ScopedModel[];
  readonly onModelChange: (model: Model, source: "set" | "cycle") => void;
  readonly onThinkingLevelChange: (level: ThinkingLevel) => void;
}

/** Which model answers and how much it thinks. A change takes effect at the next request. */
export class ModelSelection {
  readonly registry: ModelRegistry;
  readonly #options: ModelSelectionOptions;
  /** The models to cycle through; empty for all available ones. */
  scope: readonly ScopedModel[];
  #model: Model | undefined;
  /** Remembered for a model that supports more than the current one. */
  #wantedLevel: ThinkingLevel;

  constructor(options: ModelSelectionOptions) {
    this.registry = options.registry;
    this.#options = options;
    this.scope = options.scope;
    this.#model = options.model;
    this.#wantedLevel = options.thinkingLevel;
  }

  /** The model in use; undefined when none is available. */
  get model(): Model | undefined {
    return this.#model;
  }

  /** The level in force: the wanted one as far as the model supports it. */
  get thinkingLevel(): ThinkingLevel {
    return this.#model === undefined
      ? this.#wantedLevel
      : clampThinkingLevel(this.#model, this.#wantedLevel);
  }

  /** The models that have a key. */
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
      throw new SessionError("model_not_found", { model: `${provider}/${modelId}` });
    }
    if (!(await this.registry.isAvailable(model))) await this.registry.keys.require(provider);
    this.use(model);
    return model;
  }

  /** Switches to a model that is at hand, custom ones included. */
  use(model: Model, source: "set" | "cycle" = "set"): void {
    const isSame = model.provider === this.#model?.provider && model.id === this.#model.id;
    const levelBefore = this.thinkingLevel;
    // Written first: what cannot be stored is not in force either.
    if (!isSame) this.#options.onModelChange(model, source);
    this.#model = model;
    if (this.thinkingLevel !== levelBefore) this.#options.onThinkingLevelChange(this.thinkingLevel);
  }

  /** Goes to the next model of the scope, or of all available ones; null when there is no other. */
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

  /** Asks for a level; what the model does not support becomes the nearest it does. */
  setThinkingLevel(level: ThinkingLevel): void {
    const model = this.#model;
    const inForce = model === undefined ? level : clampThinkingLevel(model, level);
    if (inForce !== this.thinkingLevel) this.#options.onThinkingLevelChange(inForce);
    this.#wantedLevel = level;
  }

  /** The levels the model supports, least first; without a model only `off`. */
  thinkingLevels(): ThinkingLevel[] {
    return this.#model === undefined ? ["off"] : [...supportedThinkingLevels(this.#model)];
  }

  /** Goes to the next level the model supports; null when it cannot think. */
  cycleThinkingLevel(): { level: ThinkingLevel } | null {
    if (this.#model === undefined || supportedThinkingLevels(this.#model).length < 2) return null;
    const level = nextThinkingLevel(this.#model, this.thinkingLevel);
    if (level === undefined) return null;
    this.setThinkingLevel(level);
    return { level };
  }

  /** Takes over what a session says, without writing it down again. */
  restore(model: Model | undefined, level: ThinkingLevel): void {
    this.#model = model;
    this.#wantedLevel = level;
  }
}
