import type { AgentTool } from "@tau-agent/agent";
import type { ToolTraits } from "../permissions/rules/subject.ts";

/** Built-in tools that change nothing, in addition to those that declare `isReadOnly`. */
const readOnlyTools: ReadonlySet<string> = new Set([
  "job_output",
  "list_jobs",
  "subagent_output",
  "list_subagents",
  "tool_search",
  "list_mcp_resources",
  "list_mcp_resource_templates",
]);

/** Built-in tools that never need approval: a subagent's calls are judged individually. */
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
    // A shell command may do anything, even in a custom tool named `bash`.
    isReadOnly: name !== "bash" && (isReadOnly === true || (isBuiltIn && readOnlyTools.has(name))),
    isNeverAsked: isBuiltIn && neverAsked.has(name),
  };
}
