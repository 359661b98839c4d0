import type { ToolCallContext } from "@tau-agent/agent";
import { SandboxRefusal, type ToolEnvironment } from "@tau-agent/system";
import type { NamedTool } from "./common/tool-row.ts";

/**
 * A tool whose calls may leave the sandbox when a person allows it: what the sandbox refused runs again
 * outside. Where nobody is asked, the model reads the refusal.
 *
 * @param outside - the tool without a sandbox
 */
export function withWayOut<Name extends string>(
  tool: NamedTool<Name>,
  outside: () => NamedTool<Name>,
  { askToLeave }: Pick<ToolEnvironment, "askToLeave">,
): NamedTool<Name> {
  const execute = async (args: Record<string, unknown>, call: ToolCallContext) => {
    try {
      return await tool.execute(args, call);
    } catch (error) {
      if (!(error instanceof SandboxRefusal) || askToLeave === undefined) throw error;
      const { reason } = error;
      const question = { toolCallId: call.toolCallId, toolName: tool.name, input: args, reason };
      if (!(await askToLeave(question, call.signal))) throw error;
    }
    return outside().execute(args, call);
  };
  return Object.defineProperties({ execute } as NamedTool<Name>, {
    ...Object.getOwnPropertyDescriptors(tool),
    execute: { value: execute, enumerable: true },
  });
}
