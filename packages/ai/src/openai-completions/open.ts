import type { Model } from "@tau-agent/rpc-protocol/messages";
import { affinityHeaders } from "../openai/affinity.ts";
import { clientFor, postForEvents } from "../openai/client.ts";
import type { StreamOptions } from "../provider.ts";
import { RequestMemory } from "../request/request-memory.ts";
import type { CompletionsChunk } from "./chunk.ts";
import { resolveCompletionsCompat } from "./compat.ts";
import type { CompletionsRequest } from "./request.ts";

/** Sends the request and returns the chunks of the reply. */
export async function openStream(
  model: Model,
  request: CompletionsRequest,
  options: StreamOptions,
  memory: RequestMemory = new RequestMemory(),
): Promise<AsyncIterable<CompletionsChunk>> {
  const compat = resolveCompletionsCompat(model);
  const client = await clientFor(model, options, memory, affinityHeaders(compat, options));
  const body = memory.body(request, "messages", options);
  const chunks = await postForEvents<CompletionsChunk>(client, "/chat/completions", body, options);
  return compat.supportsFinishReason ? chunks : withFinishReason(chunks);
}

/** For servers that never say why a reply ended: its orderly end is its reason. */
export async function* withFinishReason(
  chunks: AsyncIterable<CompletionsChunk>,
): AsyncGenerator<CompletionsChunk> {
  let hasReason = false;
  let hasContent = false;
  for await (const chunk of chunks) {
    hasReason ||= Boolean(chunk?.choices?.[0]?.finish_reason);
    hasContent ||= Boolean(chunk?.choices?.length);
    yield chunk;
  }
  if (hasContent && !hasReason) yield { choices: [{ delta: {}, finish_reason: "stop" }] };
}
