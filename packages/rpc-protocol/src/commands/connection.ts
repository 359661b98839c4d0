import * as z from "zod/mini";
import { command } from "../command.ts";
import { protocolNames } from "../dialects/names.ts";
import { noParams, nothing } from "./shared.ts";

/** The dialects of the protocol; the first is the default. */
const ProtocolName = z.enum(protocolNames);

/**
 * How replies are streamed. `full`: every `message_update` carries `message` and `partial`.
 * `delta`: neither, but `usage`; linear in the length of a reply.
 */
export const StreamForm = z.enum(["full", "delta"]);
export type StreamForm = z.infer<typeof StreamForm>;

/** What a host says of itself and of the connection. */
const HostInfo = () =>
  z.object({
    name: z.string(),
    version: z.string(),
    protocolVersion: z.number(),
    protocol: ProtocolName,
    protocols: z.array(ProtocolName),
    stream: StreamForm,
    maxFrameBytes: z.number(),
    capabilities: z.record(z.string(), z.unknown()),
  });

/** The connection itself. */
export const connectionCommands = {
  initialize: command({
    summary:
      "Optional first command: chooses the dialect, the stream form and the events to send, and allows additive fields in responses and events.",
    params: () =>
      z.object({
        protocol: z.optional(ProtocolName),
        stream: z.optional(StreamForm),
        clientInfo: z.optional(z.object({ name: z.string(), version: z.optional(z.string()) })),
        events: z.optional(z.nullable(z.array(z.string()))),
        capabilities: z.optional(z.record(z.string(), z.unknown())),
      }),
    result: HostInfo,
  }),
  get_capabilities: command({
    summary: "Returns what the host says of itself in the answer to `initialize`; changes nothing.",
    params: noParams,
    result: HostInfo,
  }),
  set_event_filter: command({
    summary:
      "Sends only events of the types named from now on; without `events`, all of them again.",
    params: () => z.object({ events: z.optional(z.nullable(z.array(z.string()))) }),
    result: nothing,
    data: "none",
    positional: ["events"],
  }),
};
