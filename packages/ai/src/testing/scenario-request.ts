import type { LlmMessage } from "@tau-agent/rpc-protocol/messages";
import type { ToolDefinition } from "../provider.ts";

/** A tool result in a request, as text. */
export interface SeenToolResult {
  readonly toolName: string;
  readonly toolCallId: string;
  readonly text: string;
  /** Not transmitted in OpenAI's formats, where it is always false. */
  readonly isError: boolean;
}

/** The request as a scripted model sees it, the same in every wire format. */
export interface ScenarioRequest {
  readonly model: string;
  readonly systemPrompt: string;
  readonly messages: readonly LlmMessage[];
  readonly tools: readonly ToolDefinition[];
  /** Number of this request, from 0. */
  readonly index: number;
  /** Text of the last user message, without the notes that Tau appends. */
  readonly lastUserText: string;
  /** Results of the calls in the last reply, in order; empty if a user message came after them. */
  readonly toolResults: readonly SeenToolResult[];
}
