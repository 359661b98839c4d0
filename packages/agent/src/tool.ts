import type { ToolDefinition } from "@tau-agent/ai";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";

/** What a running tool is told about its call. */
export interface ToolCallContext {
  readonly toolCallId: string;
  /** Aborted with the run; a tool must stop its children and reject or return soon after. */
  readonly signal: AbortSignal;
  /** Reports the output so far (accumulated, not a delta). Ignored once the tool has settled. */
  readonly onUpdate: (partial: ToolResult) => void;
}

/**
 * A tool the agent can run. `execute` gets arguments that fit `parameters`; what it throws becomes
 * an error result whose text is the error's message.
 */
export interface AgentTool<Arguments = Record<string, unknown>> extends ToolDefinition {
  /** Short name for people; default `name`. */
  readonly label?: string;
  /** Neighbouring calls of read-only tools run together. Default false. */
  readonly isReadOnly?: boolean;
  /** One line for the system prompt's tool list; default the description's first sentence. */
  readonly promptSnippet?: string;
  /** Rules for the system prompt while the tool is active. */
  readonly promptGuidelines?: readonly string[];
  /** Reshapes what a model sent (an older shape, a JSON string) before validation. */
  prepareArguments?(received: Record<string, unknown>): Record<string, unknown>;
  execute(args: Arguments, call: ToolCallContext): Promise<ToolResult>;
}
