import * as z from "zod/mini";
import { AgentMessage } from "../vocabulary/message.ts";
import { command } from "./command.ts";

/** Commands that only clients of oh-my-pi 18 use; each has a counterpart among Tau's own. */
export const ohMyPiCommands = {
  get_subagents: command({
    summary:
      "Lists the session's subagents as clients of oh-my-pi 18 read them; see list_subagents.",
    result: () =>
      z.object({
        /** The subagents. */
        subagents: z.array(
          z.object({
            /** The id. */
            id: z.string(),
            /** The position in the list. */
            index: z.number(),
            /** The name of the agent. */
            agent: z.string(),
            /** Where the agent is defined. */
            agentSource: z.enum(["bundled", "user", "project"]),
            /** The description of its work. */
            description: z.optional(z.string()),
            /** Whether it is running, or how it ended. */
            status: z.enum(["running", "completed", "failed", "aborted"]),
            /** The session file. */
            sessionFile: z.optional(z.string()),
            /** When it was started or ended, in ms since the epoch. */
            lastUpdate: z.number(),
            /** The call that started it. */
            parentToolCallId: z.optional(z.string()),
          }),
        ),
      }),
    awaitsSessionChange: true,
  }),
  set_host_uri_schemes: command({
    summary:
      "Registers the URI schemes that the client serves, all of them each time: read and write then take such a URI for a path. A request arrives as `host_uri_request`.",
    params: () =>
      z.object({
        /** The schemes; an empty list removes all. */
        schemes: z.array(
          z.object({
            /** The scheme, without `://`. */
            scheme: z.string(),
            /** What the scheme is for, as a text for people. */
            description: z.optional(z.string()),
            /** Whether its URIs can be written, too. */
            writable: z.optional(z.boolean()),
            /** Whether the content of its URIs never changes. */
            immutable: z.optional(z.boolean()),
          }),
        ),
      }),
    result: () =>
      z.object({
        /** The schemes, in lower case. */
        schemes: z.array(z.string()),
      }),
    positional: ["schemes"],
  }),
  handoff: command({
    summary:
      "Summarizes the conversation and goes on from the summary, as compact does; null if there is nothing to summarize.",
    params: () =>
      z.object({
        /** What to focus on in the summary. */
        customInstructions: z.optional(z.string()),
      }),
    result: () =>
      z.nullable(
        z.object({
          /** The file with the summary, which Tau keeps in the session. */
          savedPath: z.optional(z.string()),
        }),
      ),
    positional: ["customInstructions"],
    takesLong: true,
  }),
  get_messages_page: command({
    summary: "Returns messages of the conversation, some at a time.",
    params: () =>
      z.object({
        /** The `nextCursor` of the previous page; the first page if absent. */
        cursor: z.optional(z.string()),
        /** The maximum number of messages on this page; 256 by default. */
        limit: z.optional(z.number().check(z.nonnegative())),
      }),
    result: () =>
      z.object({
        /** The messages. */
        messages: z.array(AgentMessage),
        /** For the next page; absent on the last. */
        nextCursor: z.optional(z.string()),
        /** The number of messages when the first page was read. */
        totalMessages: z.number(),
      }),
    awaitsSessionChange: true,
  }),
  get_available_commands: command({
    summary: "Lists the commands that a prompt may begin with; see get_commands.",
    result: () =>
      z.object({
        /** The commands. */
        commands: z.array(
          z.object({
            /** The name that follows the slash in a prompt. */
            name: z.string(),
            /** A one-line description. */
            description: z.optional(z.string()),
            /** What kind of resource defines it. */
            source: z.enum(["extension", "file", "skill", "mcp_prompt"]),
          }),
        ),
      }),
    awaitsSessionChange: true,
  }),
  set_fast_mode: command({
    summary: "Stores that the client wants faster replies; no provider here has such a mode.",
    params: () =>
      z.object({
        /** Whether to enable it. */
        enabled: z.boolean(),
      }),
    result: () =>
      z.object({
        /** Whether to enable it. */
        enabled: z.boolean(),
        /** Whether replies are faster now. */
        active: z.boolean(),
      }),
    positional: ["enabled"],
  }),
  negotiate_protocol: command({
    summary: "Agrees on the version of oh-my-pi's protocol; there is only version 1.",
    params: () =>
      z.object({
        /** The requested version. */
        protocolVersion: z.number(),
      }),
    result: () =>
      z.object({
        /** The version in use. */
        protocolVersion: z.number(),
      }),
    scope: "connection",
    positional: ["protocolVersion"],
  }),
};
