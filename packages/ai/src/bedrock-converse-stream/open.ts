import type {
  BedrockRuntimeClient,
  ConverseStreamCommand,
  ConverseStreamCommandOutput,
  ConverseStreamOutput,
} from "@aws-sdk/client-bedrock-runtime";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { boundReplies } from "../bounded-reply.ts";
import { ProviderError } from "../errors.ts";
import { guardRedirects } from "../fetch.ts";
import type { Environment, StreamOptions } from "../provider.ts";
import { RequestMemory } from "../request/request-memory.ts";
import { HeaderList } from "../transport/header-list.ts";
import { bytesOf, makeResponse } from "../transport/reply.ts";
import { refuseWebPage } from "../web-page.ts";
import { identityOf } from "./credentials.ts";
import { classifyResponse } from "./errors.ts";
import { createFetchHandler } from "./fetch-handler.ts";
import { type BedrockPlace, placeOf } from "./region.ts";
import type { BedrockRequest } from "./request.ts";

type Fetch = typeof globalThis.fetch;
type Headers = Readonly<Record<string, string | null>>;

/** Sends a request through the vendor's SDK, which is loaded only here. */
export async function openStream(
  model: Model,
  request: BedrockRequest,
  options: StreamOptions,
  memory: RequestMemory = new RequestMemory(),
): Promise<AsyncIterable<ConverseStreamOutput>> {
  const { environment = {}, fetch = globalThis.fetch, signal } = options;
  const place = await placeOf(model, environment);
  const headers = { ...model.headers, ...options.headers };
  const parts = [place.endpoint, place.region, options.apiKey, awsOf(environment)];
  const client = await memory.client.get(
    ["bedrock", fetch, JSON.stringify([...parts, headers])],
    () => createClient(place, options, { fetch, headers }),
  );
  const { ConverseStreamCommand: Command } = await import("@aws-sdk/client-bedrock-runtime");
  const command = new Command(request);
  const arrived = headersOf(command);
  const reply = client.send(command, signal === undefined ? {} : { abortSignal: signal });
  // The SDK would continue to wait for the first event, which has its own time limit.
  await Promise.race([arrived, reply]);
  return readEvents(reply);
}

/** Resolves once the headers of the command's response have arrived. */
function headersOf(command: ConverseStreamCommand): Promise<void> {
  return new Promise((resolve) => {
    command.middlewareStack.add(
      (next) => async (given) => {
        const result = await next(given);
        resolve();
        return result;
      },
      { step: "deserialize", priority: "low" },
    );
  });
}

async function* readEvents(
  reply: Promise<ConverseStreamCommandOutput>,
): AsyncGenerator<ConverseStreamOutput> {
  const { stream } = await reply;
  if (stream !== undefined) yield* stream;
}

function awsOf(environment: Environment): [string, string | undefined][] {
  return Object.entries(environment).filter(([name]) => /^AWS_|^HOME$|^USERPROFILE$/.test(name));
}

async function createClient(
  { endpoint, region }: BedrockPlace,
  options: StreamOptions,
  { fetch, headers }: { readonly fetch: Fetch; readonly headers: Headers },
): Promise<BedrockRuntimeClient> {
  const { BedrockRuntimeClient: Client } = await import("@aws-sdk/client-bedrock-runtime");
  const identity = await identityOf(options, { endpoint, region }, guardRedirects(fetch));
  return new Client({
    region,
    endpoint,
    ...identity,
    // Set explicitly; otherwise, the SDK reads each of these from the environment or from files.
    maxAttempts: 1,
    retryMode: "standard",
    defaultsMode: "standard",
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    userAgentAppId: async () => undefined,
    requestHandler: createFetchHandler(
      refusing(withHeaders(guardRedirects(fetch), headers)),
      "events",
    ),
  });
}

/** Adds the caller's headers, which the signature does not cover; `null` deletes a header. */
function withHeaders(fetch: Fetch, own: Headers): Fetch {
  return (input, init) => {
    const headers = new HeaderList(init?.headers);
    for (const [name, value] of Object.entries(own)) {
      if (value === null) headers.delete(name);
      else headers.set(name, value);
    }
    return fetch(input, { ...init, headers: Object.fromEntries(headers) });
  };
}

/**
 * Throws for an error response or a web page, with everything it says; the SDK would only recognise AWS's own
 * error format.
 */
function refusing(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { ok, status, statusText, body } = response;
    const headers = new HeaderList(response.headers);
    if (ok && body !== null) {
      return makeResponse({
        ...{ status, statusText, headers },
        body: await refuseWebPage(bytesOf(body), headers),
      });
    }
    const bounded = await boundReplies(async () => response)(input, init);
    throw new ProviderError(await classifyResponse(bounded));
  };
}
