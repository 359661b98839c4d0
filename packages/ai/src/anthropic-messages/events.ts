import type Anthropic from "@anthropic-ai/sdk";
import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import { parseJson } from "@tau-agent/rpc-protocol/plain";
import { bytesOf } from "../transport/reply.ts";
import { ServerEvents } from "../transport/server-events.ts";

/**
 * The events of a reply. The SDK's own iterator drops pings, which distinguish a model that thinks for a long time
 * from a dead connection. It also drops events without a name, and some compatible servers send no names at all.
 */
export function readEvents(
  response: Response,
  APIError: typeof Anthropic.APIError,
): ServerEvents<RawMessageStreamEvent> {
  if (response.body === null) throw new TypeError("The server sent a reply without a body");
  return new ServerEvents(bytesOf(response.body), ({ event, data }) => {
    if (data === "" || data === "[DONE]") return undefined;
    if (event === "error") {
      throw new APIError(undefined, parseOr(data), undefined, response.headers);
    }
    const value: RawMessageStreamEvent | { type: "error" } | null = JSON.parse(data);
    if (typeof value !== "object" || value === null) return undefined;
    if (value.type === "error") throw new APIError(undefined, value, undefined, response.headers);
    return value;
  });
}

/** An error that is not JSON is used as text. */
function parseOr(data: string): object {
  return parseJson(data, { error: { message: data } }) as object;
}
