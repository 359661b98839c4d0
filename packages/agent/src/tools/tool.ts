import type { ToolDefinition } from "@tau-agent/ai";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";

/** What a running tool receives besides its arguments. */
export interface ToolCallContext {
  readonly toolCallId: string;
  /** Aborted with the run; the tool must stop its children and reject or return soon after. */
  readonly signal: AbortSignal;
  /** Reports the output so far (all of it, not a delta). Ignored once the tool has settled. */
  readonly onUpdate: (partial: ToolResult) => void;
}

/**
 * A tool the agent can run. `execute` gets arguments that fit `parameters`. A thrown error becomes
 * an error result with the error's message as its text.
 */
export interface AgentTool<Arguments = Record<string, unknown>> extends ToolDefinition {
  /** Short display name; `name` by default. */
  readonly label?: string;
  /**
   * Whether the tool changes nothing: adjacent calls run in parallel, and no approval is required. False by default.
   */
  readonly isReadOnly?: boolean;
  /** Whether results may contain text from others, which models receive in a fence, as data. False by default. */
  readonly openWorld?: boolean;
  /** What the tool's source claims about its effects: shown in a question about a call, but not relied on. */
  readonly claims?: string;
  /** Whether adjacent calls run in parallel, whatever the tool changes; `isReadOnly` by default. */
  readonly isParallel?: boolean;
  /**
   * Whether the model discovers the tool only through `tool_search`, so that many tools do not fill each
   * request. Sessions take care of that; the loop runs calls of the tools that a request declares.
   */
  readonly isDeferred?: boolean;
  /** Whether one call only reads, so that it may run in parallel with other read-only calls. Has no other effect. */
  isReadOnlyCall?(args: Record<string, unknown>): boolean | Promise<boolean>;
  /**
   * The real path of the file that a call writes. Calls of one reply that write the same file keep their
   * order even if calls run in parallel.
   */
  writtenPath?(args: Record<string, unknown>): string | undefined | Promise<string | undefined>;
  /** One line about the tool for the system prompt, in addition to its declaration. */
  readonly promptSnippet?: string;
  /** Rules for the system prompt while the tool is active. */
  readonly promptGuidelines?: readonly string[];
  /** Converts what a model sent (an older shape, a JSON string) before validation. */
  prepareArguments?(received: Record<string, unknown>): Record<string, unknown>;
  execute(args: Arguments, call: ToolCallContext): Promise<ToolResult>;
}
