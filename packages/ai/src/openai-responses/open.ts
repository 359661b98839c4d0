import type { Model } from "@tau-agent/rpc-protocol/messages";
import { affinityHeaders } from "../openai/affinity.ts";
import { clientFor, sendOptions } from "../openai/client.ts";
import type { OpenOptions } from "../provider.ts";
import { resolveResponsesCompat } from "./compat.ts";
import type { ResponsesEvent } from "./events.ts";
import type { ResponsesRequest } from "./request.ts";

/** Sends the request and returns the events of the reply. */
export async function openStream(
  model: Model,
  request: ResponsesRequest,
  options: OpenOptions,
): Promise<AsyncIterable<ResponsesEvent>> {
  const headers = affinityHeaders(resolveResponsesCompat(model), options);
  const client = await clientFor(model, options, headers);
  const events: AsyncIterable<object> = await client.responses.create(
    request,
    sendOptions(request, "input", options),
  );
  // The SDK passes on what it parsed; servers leave out more than its types admit.
  return events as AsyncIterable<ResponsesEvent>;
}
