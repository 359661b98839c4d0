import { azureAddress, azureEndpoint, deploymentOf } from "../azure/azure-endpoint.ts";
import { clientFor, postForEvents } from "../openai/client.ts";
import type { ResponsesEvent } from "../openai-responses/events.ts";
import { createOpenaiResponses } from "../openai-responses/index.ts";
import type { ResponsesRequest } from "../openai-responses/request.ts";
import type { Provider } from "../provider.ts";
import { RequestMemory } from "../request/request-memory.ts";

/** OpenAI's Responses format under the address of an Azure resource, whose deployments have their own names. */
export function createAzureOpenaiResponses(): Provider<ResponsesRequest, ResponsesEvent> {
  const memory = new RequestMemory();
  const responses = createOpenaiResponses();
  return {
    ...responses,
    api: "azure-openai-responses",
    encode(model, context, options) {
      const request = responses.encode(model, context, options);
      return { ...request, model: deploymentOf(model, options.environment) };
    },
    async open(model, request, options) {
      const { baseUrl, path, headers } = azureEndpoint(model, "/responses", options);
      const keyless = { ...options, apiKey: undefined };
      const client = await clientFor({ ...model, baseUrl }, keyless, memory, headers);
      const body = memory.body(request, "input", options);
      return postForEvents<ResponsesEvent>(client, path, body, options);
    },
    address: (model, { environment = {} }) => azureAddress(model, environment),
  };
}
