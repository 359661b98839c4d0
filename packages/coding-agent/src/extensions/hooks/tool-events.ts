import type { BeforeToolCallResult, ToolHooks } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { ToolCall } from "@tau-agent/rpc-protocol/messages";
import { reasonOf } from "../api/errors.ts";
import type { UiPort } from "../ui/ui-port.ts";
import { type ExtensionRunner, STOP } from "./runner.ts";

export function toolHooks(
  current: () => ExtensionRunner | undefined,
  ui?: Pick<UiPort, "watch" | "during">,
): ToolHooks {
  return {
    beforeToolCall: async (call) => {
      const runner = current();
      if (!runner?.has("tool_call")) return undefined;
      if (ui === undefined) return askBefore(runner, call);
      const { value, wasAsked } = await ui.watch(call.id, () => askBefore(runner, call));
      return { ...value, wasAsked };
    },
    afterToolCall: async (call, result) => {
      const runner = current();
      if (!runner?.has("tool_result")) return undefined;
      const ask = () => askAfter(runner, call, result);
      return ui === undefined ? ask() : ui.during(call.id, ask);
    },
  };
}

/** The first block wins; changed arguments are passed to the next handler. A failure blocks the call. */
async function askBefore(
  runner: ExtensionRunner,
  { id, name, arguments: args }: ToolCall,
): Promise<BeforeToolCallResult> {
  // A copy, so that the conversation keeps the model's arguments.
  let input = structuredClone(args);
  let block: BeforeToolCallResult | undefined;
  await runner.each(
    "tool_call",
    () => ({ type: "tool_call", toolCallId: id, toolName: name, input }),
    {
      take: (result) => {
        if (result.input !== undefined) input = result.input;
        if (result.block !== true) return undefined;
        const { reason, terminate } = result;
        block = {
          block: true,
          ...(reason === undefined ? {} : { reason }),
          ...(terminate === undefined ? {} : { terminate }),
        };
        return STOP;
      },
      fail: (extension, error) => {
        const reason = `Blocked: the extension ${extension.path} failed: ${reasonOf(error)}`;
        block = { block: true, reason };
        return STOP;
      },
    },
  );
  return block ?? { arguments: input };
}

/** Each handler sees the result as changed by earlier ones. */
async function askAfter(
  runner: ExtensionRunner,
  { id, name, arguments: input }: ToolCall,
  result: ToolResult,
): Promise<Partial<ToolResult> | undefined> {
  let current = result;
  let hasChanged = false;
  const event = () => ({
    type: "tool_result" as const,
    toolCallId: id,
    toolName: name,
    input,
    content: current.content,
    details: current.details,
    structuredContent: current.structuredContent,
    isError: current.isError ?? false,
  });
  await runner.each("tool_result", event, {
    take: (patch) => {
      hasChanged = true;
      current = {
        ...current,
        // Structured data may no longer match replaced content.
        ...(Array.isArray(patch.content)
          ? { content: [...patch.content], structuredContent: patch.structuredContent }
          : {}),
        ...(patch.structuredContent === undefined
          ? {}
          : { structuredContent: patch.structuredContent }),
        ...(patch.details === undefined ? {} : { details: patch.details }),
        ...(patch.isError === undefined ? {} : { isError: patch.isError }),
        ...(patch.usage === undefined ? {} : { usage: patch.usage }),
      };
      return undefined;
    },
  });
  return hasChanged ? current : undefined;
}
