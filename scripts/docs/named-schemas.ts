import * as z from "zod/mini";
import * as events from "../../packages/rpc-protocol/src/entry/events.ts";
import * as messages from "../../packages/rpc-protocol/src/entry/messages.ts";
import * as protocol from "../../packages/rpc-protocol/src/index.ts";

export function namedSchemas(): Record<string, z.core.$ZodType> {
  const named: Record<string, z.core.$ZodType> = {};
  for (const door of [messages, events, protocol]) {
    for (const [name, value] of Object.entries<unknown>(door)) {
      if (value instanceof z.core.$ZodType && name !== "SessionEvent") named[name] = value;
    }
  }
  return named;
}
