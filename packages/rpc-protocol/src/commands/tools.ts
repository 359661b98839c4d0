import * as z from "zod/mini";
import { command } from "./command.ts";

const toolNames = () =>
  z.object({
    /** The names of the tools. */
    toolNames: z.array(z.string()),
  });

/** A tool that the client runs. */
const HostTool = () =>
  z.object({
    /** The name by which the model calls it: letters, digits, `_` and `-`. */
    name: z.string(),
    /** A short display name. */
    label: z.optional(z.string()),
    /** What the tool does, for the model. */
    description: z.string(),
    /** The arguments as JSON Schema of an object. */
    parameters: z.record(z.string(), z.unknown()),
    /** Whether it changes nothing, so that no approval is required. */
    readOnly: z.optional(z.boolean()),
    /** Whether its results may contain text from others, which models receive in a fence, as data. */
    openWorld: z.optional(z.boolean()),
    /** How long a call may take, in ms; no limit if absent. */
    timeoutMs: z.optional(z.number().check(z.nonnegative())),
    /** Whether it is omitted from requests until the model finds it with `tool_search`. */
    deferLoading: z.optional(z.boolean()),
    /** Whether subagents also get it; their calls have an `agentId`. */
    subagents: z.optional(z.boolean()),
  });

/** The tools of the model. */
export const toolCommands = {
  set_host_tools: command({
    summary:
      "Registers the tools that the client runs, all of them each time; they count from the next request to the model. A call arrives as `host_tool_call`.",
    params: () =>
      z.object({
        /** The tools; an empty list removes all. */
        tools: z.array(HostTool()),
      }),
    result: toolNames,
    positional: ["tools"],
  }),
  get_tools: command({
    summary: "Lists the tools the model may call in its next request.",
    result: () =>
      z.object({
        /** The tools, in the order of the request. */
        tools: z.array(
          z.object({
            /** The name. */
            name: z.string(),
            /** What the tool does, for the model. */
            description: z.string(),
            /** The arguments as JSON Schema. */
            parameters: z.record(z.string(), z.unknown()),
            /** Where the tool comes from. */
            source: z.enum(["builtin", "custom", "host", "extension", "mcp"]),
            /** Whether it changes nothing. */
            readOnly: z.boolean(),
          }),
        ),
      }),
  }),
  set_active_tools: command({
    summary: "Lets the model call exactly these tools.",
    params: toolNames,
    result: toolNames,
    positional: ["toolNames"],
  }),
};
