import {
  type AssistantStream,
  classifyFailure,
  ProviderError,
  type StreamFunction,
  type StreamOptions,
  type StreamResult,
} from "@tau-agent/ai";
import { type CustomProvider, createCustomProvider, parseModelsFile } from "@tau-agent/models";
import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { ExtensionError, reasonOf } from "../api/errors.ts";
import type { ProviderConfig, ProviderOAuth } from "../api/models.ts";
import type { NativeProvider, ProviderStream } from "../api/native-provider.ts";
import { nativeProviderOf } from "./native-provider.ts";
import { emptyReply } from "./reply-stream.ts";

/** A provider that an extension registers: declared by fields, or native with its own code. */
export type RegisteredProvider = ProviderConfig | NativeProvider;

export function isNativeProvider(provider: RegisteredProvider): provider is NativeProvider {
  return "getModels" in provider;
}

/**
 * The name and the description of a provider as an extension gave them.
 * @throws {ExtensionError} `invalid_registration` if there is a name without a description
 */
export function registrationOf(
  given: string | NativeProvider,
  config?: ProviderConfig,
): [name: string, provider: RegisteredProvider] {
  if (typeof given !== "string") return [given?.id, given];
  if (config !== undefined) return [given, config];
  const reason = `registerProvider: no description was given for ${given}`;
  throw new ExtensionError("invalid_registration", reason);
}

/**
 * A registered provider in the registry's form, and its own stream if it has one.
 *
 * @throws {ExtensionError} `invalid_registration`, naming the invalid field
 */
export function registeredProviderOf(
  name: string,
  provider: RegisteredProvider,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly provider: CustomProvider; readonly stream: ProviderStream | undefined } {
  if (!isNativeProvider(provider)) {
    return { provider: customProviderOf(name, provider), stream: provider.streamSimple };
  }
  return {
    provider: nativeProviderOf(provider, environment),
    stream: provider.streamSimple.bind(provider),
  };
}

/**
 * A provider in the registry's form, from an extension's description.
 * @throws {ExtensionError} `invalid_registration`, naming the invalid field
 */
export function customProviderOf(name: string, config: ProviderConfig): CustomProvider {
  // A provider with its own stream needs neither an address nor a built-in wire format.
  const own = config.streamSimple === undefined ? {} : { baseUrl: "extension:", api: name };
  const { streamSimple: _, oauth, ...described } = { ...own, ...definedOf(config) };
  const { providers, problems } = parseModelsFile({ providers: { [name]: described } });
  const entry = providers[name];
  if (entry === undefined || problems.length > 0) {
    const reason = problems[0]?.reason ?? "it is empty";
    throw new ExtensionError("invalid_registration", `registerProvider: ${reason}`);
  }
  const provider = createCustomProvider(name, entry);
  const isOwnStream = config.streamSimple !== undefined && config.apiKey === undefined;
  return {
    ...provider,
    isKeyless: provider.isKeyless || (isOwnStream && oauth === undefined),
    ...(oauth && withLogin(oauth)),
    // A given list of models replaces the built-in one.
    models: (builtIn) => provider.models(entry.models === undefined ? builtIn : []),
  };
}

function withLogin(oauth: ProviderOAuth): Pick<CustomProvider, "login" | "modelsOfLogin"> {
  const { modifyModels } = oauth;
  return {
    login: {
      refresh: (credential, signal = new AbortController().signal) =>
        oauth.refreshToken(credential, signal),
      keyOf: (credential) => oauth.getApiKey?.(credential) ?? credential.access,
    },
    ...(modifyModels && {
      modelsOfLogin: (models, credential) => modifyModels.call(oauth, [...models], credential),
    }),
  };
}

function definedOf(config: ProviderConfig): ProviderConfig {
  const entries = Object.entries(config).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as ProviderConfig;
}

/** Uses the provider's own stream if it has one, otherwise `stream`. */
export function withProviderStreams(
  stream: StreamFunction,
  find: (provider: string) => ProviderStream | undefined,
): StreamFunction {
  return (model, context, options) => {
    const own = find(model.provider);
    if (own === undefined) return stream(model, context, options);
    const words = piOptions(options);
    return relay(model, () => own(model, context, words));
  };
}

function piOptions(given: StreamOptions): Record<string, unknown> {
  const { thinkingLevel, onStreamEvent, ...options } = given;
  const reasoning = thinkingLevel === "off" ? undefined : thinkingLevel;
  const heard = onStreamEvent && { onProviderStreamEvent: onStreamEvent };
  return { ...options, ...heard, reasoning, thinkingEnabled: reasoning !== undefined };
}

async function* relay(model: Model, open: () => AsyncIterable<unknown>): AssistantStream {
  let last = emptyReply(model);
  try {
    for await (const step of open()) {
      const event = completed(step as AssistantMessageEvent);
      if (event.type === "done") last = event.message;
      else if (event.type === "error") last = event.error;
      yield event;
      if (event.type === "done") return { message: last };
      if (event.type === "error") return withReason(last, undefined);
      last = event.partial;
    }
    const text = "The provider's stream ended without its terminal event";
    return withReason(failed(last, text), undefined);
  } catch (error) {
    return withReason(failed(last, reasonOf(error)), error);
  }
}

/** Streams of older extensions do not name the call that begins. */
function completed(event: AssistantMessageEvent): AssistantMessageEvent {
  if (event.type !== "toolcall_start" || event.id !== undefined) return event;
  const { contentIndex, partial } = event as Extract<
    AssistantMessageEvent,
    { type: "toolcall_start" }
  >;
  const block = partial.content[contentIndex];
  const call = block?.type === "toolCall" ? block : { id: "", name: "" };
  return { type: "toolcall_start", contentIndex, partial, id: call.id, toolName: call.name };
}

/** Extensions report failures as text only; retries and compactions need a code. */
function withReason(message: AssistantMessage, cause: unknown): StreamResult {
  const { errorMessage: text = "", stopReason } = message;
  if (stopReason !== "error") return { message };
  const status = Reflect.get(Object(cause), "status");
  const failure = {
    message: text,
    ...(typeof status === "number" && { status }),
    ...(cause !== undefined && { cause }),
  };
  return { message, error: new ProviderError(classifyFailure(failure)) };
}

function failed(message: AssistantMessage, errorMessage: string): AssistantMessage {
  return { ...message, stopReason: "error", errorMessage };
}
