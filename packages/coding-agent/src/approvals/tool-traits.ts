import type { AgentTool } from "@tau-agent/agent";
import type { ToolTraits } from "../permissions/rules/subject.ts";

/** Tau's own tools that change nothing, besides those that say so. */
const readOnlyTools: ReadonlySet<string> = new Set([
  "job_output",
  "list_jobs",
  "subagent_output",
  "list_subagents",
  "tool_search",
  "list_mcp_resources",
  "list_mcp_resource_templates",
]);

/** Tau's own tools that are never asked about: a subagent's calls are judged by themselves. */
const neverAsked: ReadonlySet<string> = new Set([
  "todo_write",
  "task",
  "job_kill",
  "abort_subagent",
  "ask_user",
]);

export function toolTraits({ name, isReadOnly }: AgentTool, isBuiltIn: boolean): ToolTraits {
  return {
    name,
    // A line of the shell may do anything, also in a tool of your own.
    isReadOnly: name !== "bash" && (isReadOnly === true || (isBuiltIn && readOnlyTools.has(name))),
    isNeverAsked: isBuiltIn && neverAsked.has(name),
  };
}
