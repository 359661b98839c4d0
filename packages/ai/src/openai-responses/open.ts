import type { Model } from "@tau-agent/rpc-protocol/messages";
import { affinityHeaders } from "../openai/affinity.ts";
import { clientFor, sendOptions } from "../openai/client.ts";
import type { StreamOptions } from "../provider.ts";
import { RequestMemory } from "../request/request-memory.ts";
import { resolveResponsesCompat } from "./compat.ts";
import type { ResponsesEvent } from "./events.ts";
import type { ResponsesRequest } from "./request.ts";

/** Sends the request and returns the events of the reply. */
export async function openStream(
  model: Model,
  request: ResponsesRequest,
  options: StreamOptions,
  memory: RequestMemory = new RequestMemory(),
): Promise<AsyncIterable<ResponsesEvent>> {
  const headers = affinityHeaders(resolveResponsesCompat(model), options);
  const client = await clientFor(model, options, memory, headers);
  const events: AsyncIterable<object> = await client.responses.create(
    request,
    sendOptions(memory.body(request, "input", options), options),
  );
  // The SDK passes on what it parsed; servers leave out more than its types admit.
  return events as AsyncIterable<ResponsesEvent>;
}
