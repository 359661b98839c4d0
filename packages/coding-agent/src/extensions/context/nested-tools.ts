import {
  type AgentTool,
  decideToolCall,
  type ToolHooks,
  validateArguments,
} from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { ToolCall } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { randomUuid } from "@tau-agent/system";
import type { ExtensionContext, NestedOutcome, ToolContext } from "../api/context.ts";
import { ExtensionError, reasonOf } from "../api/errors.ts";

/** The tools that a tool may run, with the hooks around each call. */
export interface NestedTools {
  active(): readonly AgentTool[];
  readonly hooks: ToolHooks;
}

export function createToolContext(
  context: ExtensionContext,
  nested: NestedTools,
  runSignal: AbortSignal,
): ToolContext {
  const own: Omit<ToolContext, keyof ExtensionContext> = {
    get tools() {
      return nested.active();
    },
    executeTool: (name, args, options = {}) => {
      const { signal = runSignal, onUpdate = () => {} } = options;
      const call = { type: "toolCall" as const, id: randomUuid(), name, arguments: recordOf(args) };
      return execute(call, nested, { toolCallId: call.id, signal, onUpdate });
    },
  };
  const descriptors = Object.getOwnPropertyDescriptors(context);
  return Object.defineProperties(own as ToolContext, descriptors);
}

function recordOf(args: unknown): Record<string, unknown> {
  return isJsonObject(args) ? { ...args } : {};
}

async function execute(
  call: ToolCall,
  nested: NestedTools,
  given: Parameters<AgentTool["execute"]>[1],
): Promise<NestedOutcome> {
  const { hooks } = nested;
  const began = performance.now();
  let result: ToolResult;
  try {
    result = await runChecked(call, { tools: nested.active(), hooks, given });
    result = { ...result, ...(await hooks.afterToolCall?.(call, result)) };
  } catch (error) {
    result = { content: [{ type: "text", text: reasonOf(error) }], details: {}, isError: true };
  }
  const durationMs = performance.now() - began;
  return { toolCall: call, result, isError: result.isError ?? false, durationMs };
}

interface Surroundings {
  readonly tools: readonly AgentTool[];
  readonly hooks: ToolHooks;
  readonly given: Parameters<AgentTool["execute"]>[1];
}

async function runChecked(
  call: ToolCall,
  { tools, hooks, given }: Surroundings,
): Promise<ToolResult> {
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined)
    throw new ExtensionError("handler_failed", `There is no tool ${call.name}`);
  const checked = await validateArguments(tool, call);
  const { signal } = given;
  const decided = { ...call, arguments: checked };
  const decision = await decideToolCall(hooks, decided, { tool, signal });
  if (decision?.block || decision?.isSuspended) {
    throw new ExtensionError("handler_failed", decision.reason ?? "The call was blocked");
  }
  const args =
    decision?.arguments === undefined
      ? checked
      : await validateArguments(tool, { ...call, arguments: decision.arguments });
  return tool.execute(args, given);
}
