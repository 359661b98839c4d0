import { SandboxRefusal, type ToolEnvironment } from "@tau-agent/system";
import type { Execute } from "./common/tool-row.ts";

/**
 * Lets a tool's calls leave the sandbox if a person allows it: a call that the sandbox refused runs again outside. If
 * nobody can be asked, the model reads the refusal.
 *
 * @param outside - runs the tool without a sandbox
 */
export function withWayOut(
  execute: Execute,
  toolName: string,
  outside: () => Execute,
  { askToLeave }: Pick<ToolEnvironment, "askToLeave">,
): Execute {
  return async (args, call) => {
    try {
      return await execute(args, call);
    } catch (error) {
      if (!(error instanceof SandboxRefusal) || askToLeave === undefined) throw error;
      const { toolCallId, signal } = call;
      const question = { toolCallId, toolName, input: args, reason: error.reason };
      if (!(await askToLeave(question, signal))) throw error;
    }
    return outside()(args, call);
  };
}
