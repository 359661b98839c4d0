import { createStream } from "@tau-agent/ai";
import { type Scenario, scriptedModel, scriptedProvider } from "@tau-agent/ai/testing";
import type { AgentEvent, ToolResult } from "@tau-agent/rpc-protocol/events";
import type { AgentMessage, LlmMessage, UserMessage } from "@tau-agent/rpc-protocol/messages";
import { Agent } from "../agent.ts";
import type { AgentOptions } from "../loop/run.ts";
import type { AgentTool, ToolCallContext } from "../tools/tool.ts";

/** An agent over a scripted model that keeps every event and every record. */
export interface TestAgent {
  readonly agent: Agent;
  readonly events: AgentEvent[];
  readonly recorded: AgentMessage[];
}

export function createTestAgent(
  scenario: Scenario,
  overrides: Partial<AgentOptions> & { tools?: readonly AgentTool[] } = {},
): TestAgent {
  const provider = scriptedProvider(scenario);
  const events: AgentEvent[] = [];
  const recorded: AgentMessage[] = [];
  const { tools = [], ...options } = overrides;
  const agent = new Agent({
    stream: createStream({ providers: { scripted: async () => provider } }),
    prepareRequest: async () => ({
      model: scriptedModel(),
      systemPrompt: "You are a test.",
      tools,
      options: {},
    }),
    record: (message) => {
      recorded.push(message);
    },
    emit: (event) => {
      events.push(event);
    },
    toLlmMessages: (messages) => messages.filter(isLlmMessage),
    ...options,
  });
  return { agent, events, recorded };
}

function isLlmMessage(message: AgentMessage): message is LlmMessage {
  return ["user", "assistant", "toolResult"].includes(message.role);
}

export function user(content: string): UserMessage {
  return { role: "user", content, timestamp: 1 };
}

type Execute = (args: Record<string, unknown>, call: ToolCallContext) => Promise<ToolResult>;

export function tool(
  name: string,
  execute: Execute = async () => ok(name),
  rest: Partial<AgentTool> = {},
): AgentTool {
  return {
    name,
    description: `The ${name} tool`,
    parameters: { type: "object", properties: {} },
    ...rest,
    execute,
  };
}

export function ok(text: string): ToolResult {
  return { content: [{ type: "text", text }] };
}

/** The types of the events; consecutive updates of a reply count as one. */
export function typesOf(events: readonly AgentEvent[]): string[] {
  const types = events.map((event) =>
    "message" in event && event.type !== "turn_end"
      ? `${event.type} ${event.message.role}`
      : event.type.startsWith("tool_execution") && "toolCallId" in event
        ? `${event.type} ${event.toolCallId}`
        : event.type,
  );
  return types.filter(
    (type, index) => !(type.startsWith("message_update") && types[index - 1] === type),
  );
}

export function resultTexts(messages: readonly AgentMessage[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const message of messages) {
    if (message.role !== "toolResult") continue;
    const [first] = message.content;
    texts[message.toolCallId] = first?.type === "text" ? first.text : "";
  }
  return texts;
}

/** Calls without a result, results without a call, and calls answered twice. */
export function unpaired(messages: readonly AgentMessage[]): string[] {
  const open = new Set<string>();
  const wrong: string[] = [];
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const block of message.content) if (block.type === "toolCall") open.add(block.id);
    }
    if (message.role === "toolResult" && !open.delete(message.toolCallId)) {
      wrong.push(`result ${message.toolCallId}`);
    }
  }
  return [...wrong, ...[...open].map((id) => `call ${id}`)];
}

export function textOf(message: AgentMessage): string {
  return message.role === "user" && typeof message.content === "string" ? message.content : "";
}
