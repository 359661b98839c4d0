import {
  type AssistantStream,
  type Context,
  clampThinkingLevel,
  type StreamFunction,
  type StreamOptions,
} from "@tau-agent/ai";
import type { ModelRegistry } from "@tau-agent/models";
import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import type { AssistantMessage, Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import type { ExtensionContext } from "../api/context.ts";
import { ExtensionError, reasonOf } from "../api/errors.ts";
import type { Route, RouteRequest, VirtualModel } from "../api/virtual-model.ts";
import type { SessionPort } from "../port/session-port.ts";
import { emptyReply } from "./reply-stream.ts";

/** The pseudo wire format of virtual models. */
const virtualApi = "pi-virtual";

/** The type of entries that store router state; other pi-compatible hosts write them, too. */
export const virtualStateEntry = "pi.virtual-model-state";

export interface VirtualModelsOptions {
  readonly registry: ModelRegistry;
  readonly stream: StreamFunction;
  readonly context: () => ExtensionContext;
  /** Undefined before the session exists. */
  readonly port: () => SessionPort | undefined;
}

interface Registered {
  readonly definition: VirtualModel;
  /** The latest request, if it failed. */
  failed?: (NonNullable<RouteRequest["failed"]> & { readonly after: number }) | undefined;
}

export class VirtualModels {
  readonly #options: VirtualModelsOptions;
  readonly #models = new Map<string, Registered>();

  constructor(options: VirtualModelsOptions) {
    this.#options = options;
  }

  /** @throws {ExtensionError} `invalid_registration`, naming the missing member */
  static check(definition: VirtualModel): void {
    const reason =
      typeof definition?.provider !== "string" || typeof definition.id !== "string"
        ? "it has no provider or no id"
        : typeof definition.route !== "function" && `${definition.id} has no route function`;
    if (reason === false) return;
    throw new ExtensionError("invalid_registration", `registerVirtualModel: ${reason}`);
  }

  add(definition: VirtualModel): void {
    this.#models.set(keyOf(definition), { definition });
    this.#options.registry.addModel(modelOf(definition));
  }

  remove(provider: string, id: string): void {
    if (this.#models.delete(keyOf({ provider, id })))
      this.#options.registry.removeModel(provider, id);
  }

  clear(): void {
    for (const { definition } of [...this.#models.values()]) {
      this.remove(definition.provider, definition.id);
    }
  }

  /** Routes requests to virtual models; all others pass through unchanged. */
  readonly stream: StreamFunction = (model, context, options) => {
    const known = model.api === virtualApi ? this.#models.get(keyOf(model)) : undefined;
    if (known === undefined) return this.#options.stream(model, context, options);
    return this.#dispatch(known, model, { context, options });
  };

  async *#dispatch(
    known: Registered,
    model: Model,
    { context, options }: { context: Context; options: StreamOptions },
  ): AssistantStream {
    let opened: AssistantStream;
    let target: { readonly model: Model; readonly thinkingLevel: ThinkingLevel };
    try {
      const route = await this.#route(known, model, { context, options });
      const auth = await this.#options.registry.requestAuth(route.model);
      const thinkingLevel = clampThinkingLevel(route.model, route.thinkingLevel ?? "off");
      target = { model: route.model, thinkingLevel };
      // The key and headers of the virtual model's provider must not reach the target's provider.
      opened = this.#options.stream(target.model, context, { ...options, ...auth, thinkingLevel });
    } catch (error) {
      known.failed = undefined;
      const message = { ...emptyReply(model), errorMessage: reasonOf(error) };
      yield { type: "error", reason: "error", error: message };
      return { message };
    }
    const outcome = yield* opened;
    const { message } = outcome;
    const after = context.messages.length;
    known.failed = message.stopReason === "error" ? { ...target, message, after } : undefined;
    return outcome;
  }

  async #route(
    { definition, failed }: Registered,
    model: Model,
    { context, options }: { context: Context; options: StreamOptions },
  ): Promise<Route> {
    const port = this.#options.port();
    const { messages } = context;
    const isDirect = (context.tools?.length ?? 0) === 0 && (port?.activeTools().length ?? 0) > 0;
    const isRetry = !isDirect && failed !== undefined && failed.after === messages.length;
    const state = isDirect ? undefined : stateOf(port, model);
    const previous = await this.#previous(messages as readonly AssistantMessage[]);
    const request: RouteRequest = {
      model,
      thinkingLevel: options.thinkingLevel ?? "off",
      reason: isDirect ? "direct" : isRetry ? "retry" : reasonFor(messages),
      ...(previous && { previous }),
      ...(isRetry && { failed }),
      ...(state !== undefined && { state }),
      messages,
      signal: options.signal,
    };
    const route = await definition.route(request, this.#options.context());
    if (route?.model === undefined || route.model.api === virtualApi) {
      const reason = `${model.provider}/${model.id} routes to no available model`;
      throw new ExtensionError("handler_failed", reason);
    }
    if (!isDirect && route.state !== undefined && route.state !== state) {
      const data = { provider: model.provider, modelId: model.id, state: route.state };
      port?.append({ type: "custom", customType: virtualStateEntry, data });
    }
    return route;
  }

  async #previous(messages: readonly AssistantMessage[]): Promise<RouteRequest["previous"]> {
    const last = messages.findLast(
      ({ role, stopReason }) => role === "assistant" && stopReason !== "error",
    );
    const model = last && (await this.#options.registry.find(last.provider, last.model));
    const { thinkingLevel } = (last ?? {}) as { readonly thinkingLevel?: ThinkingLevel };
    return model && { model, ...(thinkingLevel && { thinkingLevel }) };
  }
}

function keyOf({ provider, id }: { readonly provider: string; readonly id: string }): string {
  return `${provider}/${id}`;
}

/** Whether the user has written since the last reply; otherwise the run continues on its own. */
function reasonFor(messages: readonly { readonly role: string }[]): "user" | "continuation" {
  const replied = messages.findLastIndex(({ role }) => role === "assistant");
  const isAsked = messages.slice(replied + 1).some(({ role }) => role === "user");
  return isAsked ? "user" : "continuation";
}

function stateOf(port: SessionPort | undefined, model: Model): unknown {
  const branch = (port?.log.tree.branch() ?? []) as readonly KnownSessionEntry[];
  for (const entry of branch.toReversed()) {
    if (entry.type !== "custom" || entry.customType !== virtualStateEntry) continue;
    const data = entry.data as { provider?: string; modelId?: string; state?: unknown } | undefined;
    if (data?.provider === model.provider && data.modelId === model.id) return data.state;
  }
  return undefined;
}

const levels: readonly ThinkingLevel[] = [
  "off",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
];

function modelOf(definition: VirtualModel): Model {
  const { provider, id, name = id, thinkingLevels = ["off"] } = definition;
  const taken = levels.map((level) => [level, thinkingLevels.includes(level) ? level : null]);
  return {
    id,
    name,
    api: virtualApi,
    provider,
    baseUrl: "",
    reasoning: thinkingLevels.some((level) => level !== "off"),
    thinkingLevelMap: Object.fromEntries(taken),
    input: [...(definition.input ?? ["text", "image"])],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: definition.contextWindow ?? 128_000,
    maxTokens: definition.maxTokens ?? 16_384,
  };
}
