import * as z from "zod/mini";
import { command } from "../command.ts";

/** The dialects of the protocol; `pi` is the default. */
export const ProtocolName = z.enum(["pi"]);
export type ProtocolName = z.infer<typeof ProtocolName>;

/**
 * How replies are streamed. `full`: every `message_update` carries `message` and `partial`.
 * `delta`: neither, but `usage`; linear in the length of a reply.
 */
export const StreamForm = z.enum(["full", "delta"]);
export type StreamForm = z.infer<typeof StreamForm>;

/** The connection itself. */
export const connectionCommands = {
  initialize: command({
    summary:
      "Optional first command: chooses the stream form and allows additive fields in responses and events.",
    params: () =>
      z.object({
        protocol: z.optional(ProtocolName),
        stream: z.optional(StreamForm),
        clientInfo: z.optional(z.object({ name: z.string(), version: z.optional(z.string()) })),
        events: z.optional(z.nullable(z.array(z.string()))),
        capabilities: z.optional(z.record(z.string(), z.unknown())),
      }),
    result: () =>
      z.object({
        name: z.string(),
        version: z.string(),
        protocolVersion: z.number(),
        protocol: ProtocolName,
        protocols: z.array(ProtocolName),
        stream: StreamForm,
        maxFrameBytes: z.number(),
        capabilities: z.record(z.string(), z.unknown()),
      }),
  }),
};
