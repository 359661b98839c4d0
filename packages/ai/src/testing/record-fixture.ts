import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { loadModels } from "../models/catalog.ts";
import type { Context, StreamOptions } from "../provider.ts";
import { redactSecrets } from "../redact-secrets.ts";
import { createStream } from "../stream.ts";
import { mapPayloads } from "./wire/event-stream.ts";

/** The contents of a fixture's `input.json`: the request, and the response without its body. */
export interface FixtureInput {
  /** The origin of the bytes. */
  readonly provenance: string;
  readonly model: Model;
  readonly context: Context;
  readonly options: Pick<StreamOptions, "maxTokens" | "sessionId" | "thinkingLevel">;
  readonly response: { readonly status: number; readonly headers: Record<string, string> };
}

/** A real exchange to record. */
export interface FixtureRequest {
  readonly model: Model;
  readonly prompt: string;
  readonly options: FixtureInput["options"];
  /** Keys, headers and `fetch`, none of which are recorded. */
  readonly auth: Pick<StreamOptions, "apiKey" | "headers" | "fetch" | "environment">;
  /** Other texts that must not be recorded. */
  readonly secrets: Iterable<string>;
  /** Created if it does not exist; a folder that is not empty is refused. */
  readonly folder: string;
  /** The current date, for the provenance. */
  readonly date: Date;
}

/** Headers that describe how to read a reply; others may identify the account. */
const keptHeaders = ["content-type", "retry-after", "retry-after-ms"];

/** A tool that a prompt can ask the model to call. */
const readTool = {
  name: "read",
  description: "Reads a file.",
  parameters: {
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
  },
};

interface Exchange {
  readonly bytes: Buffer;
  readonly response: FixtureInput["response"];
}

/**
 * Sends one prompt to a model and records the exchange, without keys, as a test fixture: a folder for
 * `src/<api>/__fixtures__`. Also records a refusal of the vendor.
 *
 * @returns the reply
 * @throws if no response arrived, or if the folder is not empty
 */
export async function recordFixture(request: FixtureRequest): Promise<AssistantMessage> {
  const { model, prompt, options, auth, folder, date } = request;
  await makeEmptyFolder(folder);
  const message = { role: "user" as const, content: prompt, timestamp: 1 };
  const context: Context = { systemPrompt: "Be brief.", messages: [message], tools: [readTool] };
  let exchange: Promise<Exchange> | undefined;
  const { fetch: send = globalThis.fetch } = auth;
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const response = await send(url, init);
    const [body, copy] = response.body?.tee() ?? [null, null];
    const { status, headers } = response;
    exchange = keep(copy, status, headers);
    return new Response(body, { status, headers: withoutEncoding(headers) });
  };
  const reply = await play(model, context, { ...auth, ...options, fetch });
  if (exchange === undefined) throw new Error(reply.message.errorMessage ?? "No request was sent");
  const { bytes, response } = await exchange;
  const secrets = [...request.secrets, ...(auth.apiKey ? [auth.apiKey] : [])];
  const clean = (text: string) => redacted(text, secrets);
  const input: FixtureInput = {
    provenance: `Recorded with tau record from ${model.provider} on ${date.toISOString().slice(0, 10)}`,
    model: await publicModel(model),
    context,
    options,
    response,
  };
  const stream = isBinary(response)
    ? mapPayloads(bytes, clean)
    : Buffer.from(clean(bytes.toString("latin1")), "latin1");
  await writeFixture(folder, JSON.parse(clean(JSON.stringify(input))) as FixtureInput, stream);
  return reply.message;
}

/** Writes a fixture with the request and the events that result from it. */
async function writeFixture(folder: string, input: FixtureInput, bytes: Buffer): Promise<void> {
  let body: unknown;
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    body = JSON.parse(String(init?.body));
    return new Response(Uint8Array.from(bytes), input.response);
  };
  const { model, context, options } = input;
  // Replayed the way the tests replay it.
  const { events } = await play(model, context, { apiKey: "key", ...options, fetch });
  const files = {
    "input.json": `${JSON.stringify(input, null, 2)}\n`,
    [isBinary(input.response) ? "stream.bin" : "stream.sse"]: bytes,
    "request.json": `${JSON.stringify(body, null, 2)}\n`,
    "events.jsonl": `${events.map(describeEvent).join("\n")}\n`,
  };
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, name), content, { flag: "wx", mode: 0o600 });
  }
}

/** Whether a body consists of AWS's binary messages, which have checksums. */
function isBinary({ headers }: FixtureInput["response"]): boolean {
  return headers["content-type"]?.startsWith("application/vnd.amazon.eventstream") === true;
}

interface Played {
  readonly message: AssistantMessage;
  readonly events: readonly AssistantMessageEvent[];
}

async function play(model: Model, context: Context, options: StreamOptions): Promise<Played> {
  let calls = 0;
  const stream = createStream({ now: () => 0, createToolCallId: () => `call_${++calls}` });
  const events: AssistantMessageEvent[] = [];
  const reply = stream(model, context, options);
  for (;;) {
    const next = await reply.next();
    if (next.done) return { message: next.value.message, events };
    events.push(next.value);
  }
}

function describeEvent(event: AssistantMessageEvent): string {
  const { partial: _, ...rest } = { partial: undefined, ...event };
  return JSON.stringify(rest);
}

async function keep(
  body: ReadableStream<Uint8Array> | null,
  status: number,
  headers: Headers,
): Promise<Exchange> {
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of body ?? []) pieces.push(piece);
  } catch {
    // A truncated reply is recorded as far as it arrived.
  }
  const kept = keptHeaders.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return { bytes: Buffer.concat(pieces), response: { status, headers: Object.fromEntries(kept) } };
}

/** The body arrives decoded. */
function withoutEncoding(headers: Headers): Headers {
  const rest = new Headers(headers);
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) rest.delete(name);
  return rest;
}

/** The model as in the catalogue, because a user's own address and headers are private. */
async function publicModel(model: Model): Promise<Model> {
  const { headers: _, ...rest } = model;
  const known = (await loadModels(model.provider)).find(({ id }) => id === model.id);
  if (known?.baseUrl === model.baseUrl) return rest;
  const path = URL.canParse(known?.baseUrl ?? "") ? new URL(known?.baseUrl ?? "").pathname : "/v1";
  return { ...rest, baseUrl: `https://vendor.invalid${path.replaceAll(/%7B|%7D/g, "")}` };
}

/** Replaces keys with the same number of x, so that byte counts stay valid. */
function redacted(text: string, secrets: readonly string[]): string {
  const hidden = secrets
    .filter((secret) => secret.length >= 8)
    .reduce((rest, secret) => rest.replaceAll(secret, "x".repeat(secret.length)), text);
  return redactSecrets(hidden);
}

async function makeEmptyFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty`);
}
