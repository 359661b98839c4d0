import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { StreamResult } from "./assemble.ts";
import type { RelayReply } from "./reply-output.ts";

type Iteration = AsyncGenerator<AssistantMessageEvent, StreamResult, void>;

/** A reply that can be relayed, or iterated over. It begins when it is first asked for. */
export function relayedStream(relay: RelayReply): Iteration & { readonly relay: RelayReply } {
  return Object.assign(iterate(relay), { relay });
}

/** After each event, the reply waits until the next one is asked for. */
async function* iterate(relay: RelayReply): Iteration {
  let arrived = Promise.withResolvers<AssistantMessageEvent | undefined>();
  let asked = Promise.withResolvers<void>();
  let isLeft = false;
  const result = relay(async (event) => {
    arrived.resolve(event);
    await asked.promise;
    if (isLeft) throw new Error("The reply was left");
  });
  const end = (): void => arrived.resolve(undefined);
  result.then(end, end);
  try {
    for (;;) {
      const event = await arrived.promise;
      if (event === undefined) return await result;
      arrived = Promise.withResolvers();
      yield event;
      const { resolve } = asked;
      asked = Promise.withResolvers();
      resolve();
    }
  } finally {
    isLeft = true;
    asked.resolve();
    await result.catch(() => undefined);
  }
}
