import { SandboxRefusal, type ToolEnvironment } from "@tau-agent/system";
import type { Execute } from "./common/tool-row.ts";

/**
 * What a tool of this name does, whose calls may leave the sandbox when a person allows it: what the sandbox
 * refused runs again outside. Where nobody is asked, the model reads the refusal.
 *
 * @param outside - what the tool does without a sandbox
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
