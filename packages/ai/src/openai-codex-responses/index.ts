import { clientFor, postForEvents } from "../openai/client.ts";
import type { ResponsesEvent } from "../openai-responses/events.ts";
import { createOpenaiResponses } from "../openai-responses/index.ts";
import type { ResponsesRequest } from "../openai-responses/request.ts";
import type { Provider } from "../provider.ts";
import { RequestMemory } from "../request/request-memory.ts";
import { codexEndpoint } from "./endpoint.ts";
import { codexHeaders } from "./headers.ts";

/** This backend refuses a request without instructions. */
const noInstructions = "Help the user with what they ask.";

/**
 * OpenAI's Responses format for the backend of ChatGPT plans: instructions are separate from the input,
 * nothing is stored, and no output limit is sent.
 */
export function createOpenaiCodexResponses(): Provider<ResponsesRequest, ResponsesEvent> {
  const memory = new RequestMemory();
  const responses = createOpenaiResponses();
  return {
    ...responses,
    api: "openai-codex-responses",
    encode(model, context, options) {
      const { temperature: _, ...request } = responses.encode(model, context, options);
      const fixed = { tool_choice: "auto", parallel_tool_calls: true } as const;
      const { instructions = noInstructions } = request;
      return { ...request, instructions, ...(request.tools && fixed) } as ResponsesRequest;
    },
    async open(model, request, options) {
      const { baseUrl, path } = codexEndpoint(model.baseUrl);
      const headers = codexHeaders(options);
      const client = await clientFor({ ...model, baseUrl }, options, memory, headers);
      const body = memory.body(request, "input", options);
      return postForEvents<ResponsesEvent>(client, path, body, options);
    },
  };
}
