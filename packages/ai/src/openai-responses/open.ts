import type { Model } from "@tau-agent/rpc-protocol/messages";
import { affinityHeaders } from "../openai/affinity.ts";
import { clientFor, postForEvents } from "../openai/client.ts";
import type { StreamOptions } from "../provider.ts";
import { RequestMemory } from "../request/request-memory.ts";
import { resolveResponsesCompat } from "./compat.ts";
import type { ResponsesEvent } from "./events.ts";
import type { ResponsesRequest } from "./request.ts";

export async function openStream(
  model: Model,
  request: ResponsesRequest,
  options: StreamOptions,
  memory: RequestMemory = new RequestMemory(),
): Promise<AsyncIterable<ResponsesEvent>> {
  const headers = affinityHeaders(resolveResponsesCompat(model), options);
  const client = await clientFor(model, options, memory, headers);
  const body = memory.body(request, "input", options);
  return postForEvents<ResponsesEvent>(client, "/responses", body, options);
}
