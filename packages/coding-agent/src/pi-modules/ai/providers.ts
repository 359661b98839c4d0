interface ProviderStreams {
  stream(model: never, context: unknown, options?: unknown): unknown;
  streamSimple(model: never, context: unknown, options?: unknown): unknown;
}

interface ProviderInput {
  readonly id: string;
  readonly name?: string;
  readonly models?: readonly object[];
  readonly fetchModels?: (context: object) => Promise<readonly object[]>;
  readonly api: ProviderStreams | Readonly<Record<string, ProviderStreams>>;
}

interface KeySearch {
  readonly ctx: { env(name: string): Promise<string | undefined> };
  readonly credential?: { readonly key?: string } | undefined;
}

/** Functions that build complete providers, for `pi.registerProvider(provider)`. */
export function providerBuilders(): object {
  return { createProvider, envApiKeyAuth, lazyOAuth, lazyApi, lazyStream };
}

export function createProvider({
  api,
  models = [],
  fetchModels,
  ...described
}: ProviderInput): object {
  let known = models;
  const streamsOf = (model: { readonly api: string }): ProviderStreams => {
    if (typeof api.streamSimple === "function") return api as ProviderStreams;
    const streams = (api as Readonly<Record<string, ProviderStreams>>)[model.api];
    if (streams !== undefined) return streams;
    throw new TypeError(`The provider ${described.id} has no streams for ${model.api}`);
  };
  return {
    name: described.id,
    ...described,
    getModels: () => known,
    ...(fetchModels && {
      refreshModels: async (context: object) => {
        known = await fetchModels(context);
      },
    }),
    stream: (model: never, ...rest: [unknown, unknown]) => streamsOf(model).stream(model, ...rest),
    streamSimple: (model: never, ...rest: [unknown, unknown]) =>
      streamsOf(model).streamSimple(model, ...rest),
  };
}

/** A stored key, or the first of some environment variables that is set. */
function envApiKeyAuth(name: string, variables: string | readonly string[]): object {
  const names = typeof variables === "string" ? [variables] : variables;
  return {
    name,
    login: async ({ prompt }: { prompt(question: object): Promise<string> }) => ({
      type: "api_key",
      key: await prompt({ type: "secret", message: name }),
    }),
    resolve: async ({ ctx, credential }: KeySearch) => {
      if (credential?.key) return { auth: { apiKey: credential.key }, source: "stored credential" };
      for (const variable of names) {
        const apiKey = await ctx.env(variable);
        if (apiKey) return { auth: { apiKey }, source: variable };
      }
      return undefined;
    },
  };
}

interface LazyOAuth {
  readonly load: () => Promise<Record<string, (...given: unknown[]) => Promise<unknown>>>;
}

function lazyOAuth({ load, ...described }: LazyOAuth): object {
  const later =
    (method: string) =>
    async (...given: unknown[]) =>
      (await load())[method]?.(...given);
  return {
    ...described,
    login: later("login"),
    refresh: later("refresh"),
    toAuth: later("toAuth"),
  };
}

type Open = (model: never, context: unknown, options?: unknown) => AsyncIterable<unknown>;

/** Streams from a module that is imported at the first request. */
function lazyApi(load: () => Promise<ProviderStreams>): ProviderStreams {
  const method = (name: "stream" | "streamSimple") =>
    lazyStream(async () => (await load())[name] as Open);
  return { stream: method("stream"), streamSimple: method("streamSimple") };
}

function lazyStream(load: () => Promise<Open>): Open {
  return (...given) => {
    const opened = load().then((open) => open(...given));
    return {
      async *[Symbol.asyncIterator]() {
        yield* await opened;
      },
      result: async () => ((await opened) as unknown as { result(): Promise<unknown> }).result(),
    } as AsyncIterable<unknown>;
  };
}
