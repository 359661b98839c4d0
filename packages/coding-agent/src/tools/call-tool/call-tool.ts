import { ToolError } from "@tau-agent/agent";

/** Runs only where the arguments name no tool; any other call is one of the tool that it names. */
export async function runCallTool(_args: object, _environment: object): Promise<never> {
  throw new ToolError('Give the tool\'s name and its arguments: {"name": "…", "arguments": {…}}.');
}
