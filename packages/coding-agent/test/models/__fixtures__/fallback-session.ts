import { createStream } from "@tau-agent/ai";
import {
  type Fault,
  overloaded,
  type Scenario,
  scriptedModel,
  scriptedProvider,
  turn,
} from "@tau-agent/ai/testing";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { SettingsStore } from "@tau-agent/system";
import {
  createTestSession,
  keyless,
  type TestSession,
} from "../../../src/create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../../../src/create/options/session-options.ts";

type Vendors = Readonly<Record<string, Scenario>>;

/** Settings with a single retry and no delay. */
export function quickSettings(more: object = {}): SettingsStore {
  return SettingsStore.inMemory({ "retry.baseDelayMs": 1, "retry.maxRetries": 1, ...more });
}

/** Options for a session with scripted vendors, each with one model: `<vendor>/one`. */
export function vendorOptions(
  vendors: Vendors,
  models: Readonly<Record<string, Partial<Model>>> = {},
): Pick<CreateAgentSessionOptions, "model" | "providers" | "stream"> & { model: Model } {
  const names = Object.keys(vendors);
  const modelOf = (name: string) =>
    scriptedModel({ id: "one", api: name, provider: name, ...models[name] });
  const providers = Object.fromEntries(
    Object.entries(vendors).map(([name, scenario]) => {
      const provider = { ...scriptedProvider(scenario), api: name };
      return [name, async () => provider];
    }),
  );
  return {
    model: modelOf(names[0] ?? ""),
    providers: names.map((name) => ({ ...keyless(name), models: () => [modelOf(name)] })),
    stream: createStream({ providers }),
  };
}

/** Options of a session with scripted vendors. */
interface FallbackOptions extends Omit<Partial<CreateAgentSessionOptions>, "models"> {
  /** How the vendors' models differ. */
  readonly models?: Readonly<Record<string, Partial<Model>>> | undefined;
}

/** A session with scripted vendors: the first is chosen, the others are its fallbacks in this order. */
export async function createFallbackSession(
  vendors: Vendors,
  { models, ...options }: FallbackOptions = {},
): Promise<TestSession> {
  const [, ...fallbacks] = Object.keys(vendors);
  return createTestSession([], {
    ...vendorOptions(vendors, models),
    fallbackModels: fallbacks.map((name) => `${name}/one`),
    settings: quickSettings(),
    ...options,
  });
}

/** A vendor that always fails. */
export const down =
  (fault: Fault = overloaded()): Scenario =>
  () =>
    turn("", { fault });

/** The models that wrote the replies of the conversation. */
export function writers({ session }: Pick<TestSession, "session">): string[] {
  return session.messages.flatMap((message) =>
    message.role === "assistant" ? [`${message.provider}/${message.model}`] : [],
  );
}

/** The fallbacks that a session reported in its events. */
export function fallbacksOf({ events }: Pick<TestSession, "events">): string[] {
  return events.flatMap((event) =>
    event.type === "model_fallback" ? [`${event.from} ${event.to} ${event.reason}`] : [],
  );
}
