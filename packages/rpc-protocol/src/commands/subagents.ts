import * as z from "zod/mini";
import { AgentMessage } from "../vocabulary/message.ts";
import { SubagentInfo } from "../vocabulary/subagent.ts";
import { command } from "./command.ts";

const subagentId = () => z.string();

/** The subagents of a session, one by one. */
export const subagentCommands = {
  list_subagents: command({
    summary: "Lists the session's subagents, nested ones included, oldest first.",
    result: () =>
      z.object({
        /** The subagents. */
        subagents: z.array(SubagentInfo),
      }),
    awaitsSessionChange: true,
  }),
  get_subagent_messages: command({
    summary: "Returns the messages of a subagent's conversation, running or not.",
    params: () =>
      z.object({
        /** The subagent; a nested one by its path. */
        subagentId: z.optional(subagentId()),
        /** Only messages after the entry with this id. */
        since: z.optional(z.string()),
        /** The session file instead, as clients of oh-my-pi 18 use. */
        sessionFile: z.optional(z.string()),
        /** Only lines of that file from this byte offset on; the answer then contains lines. */
        fromByte: z.optional(z.number().check(z.nonnegative())),
      }),
    result: () =>
      z.object({
        /** The messages. */
        messages: z.array(AgentMessage),
        /** The id of the last message, for the next `since`; absent if there are none. */
        lastEntryId: z.optional(z.string()),
        /** The file; this and the following members only for a dialect or a request that uses byte offsets. */
        sessionFile: z.optional(z.string()),
        /** The offset of the first line. */
        fromByte: z.optional(z.number()),
        /** The offset from which to continue. */
        nextByte: z.optional(z.number()),
        /** Whether the file was shorter than the client expected and was read from the beginning. */
        reset: z.optional(z.boolean()),
        /** The lines. */
        entries: z.optional(z.array(z.record(z.string(), z.unknown()))),
      }),
    positional: ["subagentId", "since"],
    awaitsSessionChange: true,
  }),
  steer_subagent: command({
    summary: "Sends a message to one running subagent; it is delivered as by steer.",
    params: () =>
      z.object({
        /** The subagent; a nested one by its path. */
        subagentId: subagentId(),
        /** The message. */
        message: z.string(),
      }),
    positional: ["subagentId", "message"],
    awaitsSessionChange: true,
  }),
  abort_subagent: command({
    summary: "Stops one running subagent with those that it started; its caller gets an error.",
    params: () =>
      z.object({
        /** The subagent; a nested one by its path. */
        subagentId: subagentId(),
      }),
    positional: ["subagentId"],
    awaitsSessionChange: true,
  }),
  resume_subagent: command({
    summary:
      "Continues the conversation of a subagent that has ended. Its end is an event; the session's model is not told.",
    params: () =>
      z.object({
        /** The subagent; a nested one by its path. */
        subagentId: subagentId(),
        /** The new task. */
        message: z.string(),
      }),
    result: () =>
      z.object({
        /** The same id. */
        subagentId: subagentId(),
      }),
    positional: ["subagentId", "message"],
    awaitsSessionChange: true,
  }),
};
