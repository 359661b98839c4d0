import type { Model } from "@tau-agent/rpc-protocol/messages";
import { azureEndpoint, isAzure } from "../azure/azure-endpoint.ts";
import { affinityHeaders } from "../openai/affinity.ts";
import { clientFor, postForEvents } from "../openai/client.ts";
import type { StreamOptions } from "../provider.ts";
import { RequestMemory } from "../request/request-memory.ts";
import type { CompletionsChunk } from "./chunk.ts";
import { resolveCompletionsCompat } from "./compat.ts";
import type { CompletionsRequest } from "./request.ts";

const operation = "/chat/completions";

export async function openStream(
  model: Model,
  request: CompletionsRequest,
  options: StreamOptions,
  memory: RequestMemory = new RequestMemory(),
): Promise<AsyncIterable<CompletionsChunk>> {
  const compat = resolveCompletionsCompat(model);
  const affinity = affinityHeaders(compat, options);
  const body = memory.body(request, "messages", options);
  const azure = isAzure(model) ? azureEndpoint(model, operation, options) : undefined;
  const client =
    azure === undefined
      ? await clientFor(model, options, memory, affinity)
      : await clientFor(
          { ...model, baseUrl: azure.baseUrl },
          { ...options, apiKey: undefined },
          memory,
          { ...affinity, ...azure.headers },
        );
  const path = azure?.path ?? operation;
  const chunks = await postForEvents<CompletionsChunk>(client, path, body, options);
  return compat.supportsFinishReason ? chunks : withFinishReason(chunks);
}

/** For servers that never send a finish reason: an orderly end counts as one. */
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
