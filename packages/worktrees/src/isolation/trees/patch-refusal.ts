import { ToolError } from "@tau-agent/agent";

/** The error for a kept patch of a resumed task that does not apply to its new tree. */
export function patchRefusal(patch: string, said: string): ToolError {
  return new ToolError(
    `Its earlier changes do not fit the files as they are now: ${said.trim()}\nThe patch: ${patch}`,
  );
}
