import { ToolError } from "@tau-agent/agent";

/** The kept patch of a task that is resumed cannot be put into its new tree. */
export function patchRefusal(patch: string, said: string): ToolError {
  return new ToolError(
    `Its earlier changes do not fit the files as they are now: ${said.trim()}\nThe patch: ${patch}`,
  );
}
