import type { AssistantMessage, LlmMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { type Context, createStream, type StreamFunction } from "../../src/index.ts";
import { type LoopbackApi, loopbackApis } from "../../src/testing/index.ts";
import { wireFormats } from "../../src/testing/routes.ts";
import { findRefusal } from "../../src/testing/rules/index.ts";
import { objectOf } from "../../src/testing/wire/json.ts";
import { mutate } from "./mutate.ts";
import { Random } from "./random.ts";
import { validReply } from "./valid-reply.ts";

const tools = ["read", "bash", "edit"].map((name) => ({
  name,
  description: "A tool",
  parameters: { type: "object", properties: { path: { type: "string" } } },
}));

const user = (content: string): LlmMessage => ({ role: "user", content, timestamp: 1 });
const context: Context = { systemPrompt: "Be brief.", messages: [user("Go")], tools };

function modelOf(api: LoopbackApi): Model {
  return {
    id: "m",
    name: "M",
    api,
    provider: "chaos",
    baseUrl: "http://vendor.invalid/v1",
    reasoning: true,
    input: ["text", "image"],
    cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
    contextWindow: 1_000_000,
    maxTokens: 32_000,
  };
}

/** Streams one broken reply and sends the resulting history to all vendors; returns the problems. */
export async function runChaos(seed: number): Promise<string[]> {
  const random = new Random(seed);
  const api = loopbackApis[seed % loopbackApis.length] ?? "anthropic-messages";
  const pieces = mutate(validReply(api, random), random, wireFormats[api]);
  const staysOpen = random.chance(0.02);
  const faults: string[] = [];
  const stream = createStream({ now: () => 0, createToolCallId: () => `call_own_${seed}` });
  const { types, message } = await collect(stream, api, answer(pieces, staysOpen));
  const ends = types.filter((type) => type === "done" || type === "error");
  if (ends.length !== 1 || types.at(-1) !== ends[0]) faults.push(`ends: ${types.slice(-5)}`);
  if (types[0] !== "start") faults.push(`begins with ${types[0]}`);
  // A failed reply is dropped from the history, so one vendor is enough to check that it leaves nothing behind.
  for (const to of ends[0] === "done" ? loopbackApis : [api]) {
    const refusal = await refusalOf(stream, to, [user("Go"), message, ...followUp(message)]);
    if (refusal !== undefined) faults.push(`${to} refuses: ${refusal.slice(0, 300)}`);
  }
  return faults.map((fault) => `seed ${seed} (${api}): ${fault}`);
}

function answer(pieces: readonly Uint8Array[], staysOpen: boolean): typeof globalThis.fetch {
  return async (_url, init) => {
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces[at++];
        if (piece !== undefined) controller.enqueue(piece);
        else if (!staysOpen) controller.close();
        else init?.signal?.addEventListener("abort", () => controller.error(new Error("gone")));
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}

async function collect(
  stream: StreamFunction,
  api: LoopbackApi,
  fetch: typeof globalThis.fetch,
): Promise<{ types: string[]; message: AssistantMessage }> {
  const limits = { firstEventTimeoutMs: 300, idleTimeoutMs: 300 };
  const reply = stream(modelOf(api), context, { apiKey: "k", fetch, ...limits });
  const types: string[] = [];
  for (;;) {
    const next = await reply.next();
    if (next.done) return { types, message: next.value.message };
    // There are many deltas, and only their number varies.
    if (next.value.type !== types.at(-1)) types.push(next.value.type);
    else if (next.value.type === "done" || next.value.type === "error") types.push("again");
  }
}

function followUp(message: AssistantMessage): LlmMessage[] {
  const results = message.content.flatMap((block): LlmMessage[] =>
    block.type !== "toolCall"
      ? []
      : [
          {
            role: "toolResult",
            toolCallId: block.id,
            toolName: block.name,
            content: [{ type: "text", text: "ok" }],
            isError: false,
            timestamp: 1,
          },
        ],
  );
  return [...results, user("And now?")];
}

/** The vendor's error for the conversation, or an error thrown by our own encoding. */
async function refusalOf(
  stream: StreamFunction,
  api: LoopbackApi,
  messages: readonly LlmMessage[],
): Promise<string | undefined> {
  let refusal: string | undefined = "nothing was sent";
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const body = objectOf(JSON.parse(String(init?.body)));
    const memory = { signed: new Map(), models: new Map() };
    const { pathname: path, search } = new URL(String(url));
    refusal = findRefusal({ api, path, search, headers: {}, body }, memory)?.message;
    return new Response("{}", { status: 400 });
  };
  const reply = stream(modelOf(api), { ...context, messages }, { apiKey: "k", fetch });
  for (;;) {
    const next = await reply.next();
    if (!next.done) continue;
    const { error } = next.value;
    return refusal === "nothing was sent" ? `${refusal}: ${error?.message}` : refusal;
  }
}
