import { ToolError } from "@tau-agent/agent";

/** Runs only if the arguments name no tool; any other call becomes a call of the named tool. */
export async function runCallTool(_args: object, _environment: object): Promise<never> {
  throw new ToolError('Give the tool\'s name and its arguments: {"name": "…", "arguments": {…}}.');
}
