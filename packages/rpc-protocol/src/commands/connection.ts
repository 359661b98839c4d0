import * as z from "zod/mini";
import { protocolNames } from "../dialects/index.ts";
import { SandboxInfo } from "../vocabulary/sandbox.ts";
import { StreamForm } from "../vocabulary/stream-event.ts";
import { SubagentLevel } from "../vocabulary/subagent-event.ts";
import { command } from "./command.ts";

/** The dialects of the protocol; the first is the default. */
const ProtocolName = z.enum(protocolNames);

/** How a host describes itself and the connection. */
const HostInfo = () =>
  z.object({
    /** The name of the host. */
    name: z.string(),
    /** The version of the host. */
    version: z.string(),
    /** Incremented when the protocol changes incompatibly. */
    protocolVersion: z.number(),
    /** The current dialect. */
    protocol: ProtocolName,
    /** The dialects that the host supports. */
    protocols: z.array(ProtocolName),
    /** The form in which replies are streamed. */
    stream: StreamForm,
    /** The longest line the host accepts, in bytes. */
    maxFrameBytes: z.number(),
    /** What the host supports beyond pi's protocol. */
    capabilities: z.record(z.string(), z.unknown()),
    /** The sandbox of commands and file tools; with `get_capabilities` only. */
    sandbox: z.optional(SandboxInfo),
  });

/** How a client describes itself; a host ignores members that it does not know. */
const ClientCapabilities = () =>
  z.looseObject({
    /** Which host requests it answers: all, or the methods listed; absent to get them as dialogs. */
    hostRequests: z.optional(z.union([z.boolean(), z.array(z.string())])),
    /** Whether it serves a workspace. */
    workspace: z.optional(z.boolean()),
  });

/** The connection itself. */
export const connectionCommands = {
  initialize: command({
    summary:
      "Optional first command: chooses the dialect, the stream form and the events to send, and allows additive fields in responses and events.",
    params: () =>
      z.object({
        /** The dialect to use. */
        protocol: z.optional(ProtocolName),
        /** The form in which replies are streamed. */
        stream: z.optional(StreamForm),
        /**
         * How long deltas of one block may be held back to be sent as one, in ms: 0 to 100, 25 by default.
         * With 0, each is sent at once while the client keeps up.
         */
        mergeMs: z.optional(z.number().check(z.gte(0), z.lte(100))),
        /** Whether files are recorded before a prompt changes them, so that `rewind` can revert the changes. */
        rewind: z.optional(z.boolean()),
        /** The client's name and version. */
        clientInfo: z.optional(
          z.object({
            /** The name of the client. */
            name: z.string(),
            /** The version of the client. */
            version: z.optional(z.string()),
          }),
        ),
        /** The event types to send; null for all. */
        events: z.optional(z.nullable(z.array(z.string()))),
        /** What the client can do. */
        capabilities: z.optional(ClientCapabilities()),
      }),
    result: HostInfo,
    scope: "host",
    answersAtOnce: true,
  }),
  get_capabilities: command({
    summary:
      "Returns what `initialize` returns about the host and the connection, without changing anything.",
    result: HostInfo,
    scope: "connection",
  }),
  set_subagent_subscription: command({
    summary:
      "Sets which events of subagents are sent as `subagent_event`: none (default), the start and end of their runs and tool calls, or all.",
    params: () =>
      z.object({
        /** Which events to send; `off`, `progress` and `events` mean `none`, `activity` and `all`. */
        level: SubagentLevel,
      }),
    result: () =>
      z.object({
        /** The level as it was given. */
        level: SubagentLevel,
      }),
    positional: ["level"],
  }),
  set_event_filter: command({
    summary:
      "From now on, sends only events of the given types; without `events`, all of them again.",
    params: () =>
      z.object({
        /** The event types to send; null for all. */
        events: z.optional(z.nullable(z.array(z.string()))),
      }),
    result: () =>
      z.object({
        /** The event types that are now sent; null for all. */
        events: z.nullable(z.array(z.string())),
      }),
    data: "initialized",
    positional: ["events"],
    scope: "connection",
  }),
};
