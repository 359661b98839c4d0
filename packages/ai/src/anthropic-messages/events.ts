import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";

/**
 * The events of a reply. The SDK's own iterator leaves out pings, which tell a model that thinks for
 * long from a connection that is dead, and whatever comes without an event name, as some compatible
 * servers send all of it.
 */
export async function* readEvents(response: Response): AsyncGenerator<RawMessageStreamEvent> {
  const { APIError } = await import("@anthropic-ai/sdk");
  const { Stream } = await import("@anthropic-ai/sdk/core/streaming");
  for await (const { event, data } of Stream.rawEvents(response)) {
    if (data === "" || data === "[DONE]") continue;
    if (event === "error") {
      throw new APIError(undefined, parseOr(data), undefined, response.headers);
    }
    const value: RawMessageStreamEvent | { type: "error" } | null = JSON.parse(data);
    if (typeof value !== "object" || value === null) continue;
    if (value.type === "error") throw new APIError(undefined, value, undefined, response.headers);
    yield value;
  }
}

/** An error that is no JSON is its own text. */
function parseOr(data: string): object {
  try {
    return JSON.parse(data);
  } catch {
    return { error: { message: data } };
  }
}
