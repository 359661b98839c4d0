import { createStream, type StreamFunction } from "@tau-agent/ai";
import type { LoopbackApi } from "@tau-agent/ai/testing";
import { wireFormats } from "../../../ai/src/testing/routes.ts";
import { mutate } from "../../../ai/test/chaos/mutate.ts";
import type { Random } from "../../../ai/test/chaos/random.ts";
import { splitEvents, validReply } from "../../../ai/test/chaos/valid-reply.ts";

/** The four wire formats, over a network on which most replies break. */
export interface ChaosStream {
  readonly stream: StreamFunction;
  /** The number of replies so far. */
  readonly count: () => number;
}

/** Sends requests to their server unchanged, and damages its replies on the way back. */
export function createChaosStream(random: Random): ChaosStream {
  let count = 0;
  const stream = createStream({ now: Date.now });
  return {
    count: () => count,
    stream(model, context, options) {
      const fetch: typeof globalThis.fetch = async (url, init) => {
        count++;
        const response = await globalThis.fetch(url, init);
        // A refusal is never damaged: the server lists it, and the test fails for it.
        if (response.status !== 200) return response;
        return broken(response, model.api as LoopbackApi, random, init?.signal ?? undefined);
      };
      return stream(model, context, { ...options, fetch });
    },
  };
}

async function broken(
  response: Response,
  api: LoopbackApi,
  random: Random,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const own = Buffer.from(await response.arrayBuffer());
  const kind = random.next();
  if (kind < 0.3) return streamOf([own], false, signal);
  if (kind < 0.34) throw new TypeError("fetch failed");
  if (kind < 0.4) return failed(random);
  const wire = wireFormats[api];
  const isText = wire.toBytes === undefined;
  const events =
    kind < 0.6 || !isText ? validReply(api, random) : splitEvents(own.toString("utf8"));
  return streamOf(mutate(events, random, wire), random.chance(0.01), signal);
}

function failed(random: Random): Response {
  const status = random.pick([429, 500, 503, 529]);
  const message = random.pick(["Busy", "See your billing page", "Try again in 2ms", ""]);
  const headers = random.chance(0.5) ? { "retry-after-ms": "2" } : {};
  return Response.json({ error: { message } }, { status, headers });
}

function streamOf(
  pieces: readonly Uint8Array[],
  staysOpen: boolean,
  signal: AbortSignal | undefined,
): Response {
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces[at++];
      if (piece !== undefined) controller.enqueue(piece);
      else if (!staysOpen) controller.close();
      else signal?.addEventListener("abort", () => controller.error(signal.reason));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
