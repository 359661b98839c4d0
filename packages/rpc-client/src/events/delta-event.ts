import type { ClientEvent } from "@tau-agent/rpc-protocol";
import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";

type Update = Extract<ClientEvent, { type: "message_update" }>;
type WithoutPartial<Step> = Step extends unknown ? Omit<Step, "partial"> : never;

/** An event whose size does not grow with the reply: a `message_update` contains only its step. */
export type DeltaEvent =
  | Exclude<ClientEvent, Update>
  | (Omit<Update, "message" | "assistantMessageEvent"> & {
      readonly assistantMessageEvent: WithoutPartial<AssistantMessageEvent>;
    });

/** The event without the accumulated reply. */
export function stepOnly(event: ClientEvent): DeltaEvent {
  if (event.type !== "message_update") return event;
  const { message: _, assistantMessageEvent, ...rest } = event;
  const { partial: __, ...step } = assistantMessageEvent as { partial?: unknown };
  return { ...rest, assistantMessageEvent: step } as DeltaEvent;
}
