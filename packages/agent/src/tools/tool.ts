import type { ToolDefinition } from "@tau-agent/ai";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";

/** What a running tool gets besides its arguments. */
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
   * It changes nothing: adjacent calls run in parallel, and permissions do not ask before it. False by
   * default.
   */
  readonly isReadOnly?: boolean;
  /**
   * Its results may hold text that others wrote: models read them in a fence, as data. False by default.
   */
  readonly openWorld?: boolean;
  /** What its source says about its effects: shown in a question about a call, and not believed. */
  readonly claims?: string;
  /** Whether adjacent calls run in parallel, whatever it changes; `isReadOnly` by default. */
  readonly isParallel?: boolean;
  /**
   * Whether the model learns of it only from `tool_search`, so that many tools do not fill each request.
   * Sessions see to that; the loop calls what a request declares.
   */
  readonly isDeferred?: boolean;
  /** Whether one call only reads, so that it runs beside others that do; nothing else follows. */
  isReadOnlyCall?(args: Record<string, unknown>): boolean | Promise<boolean>;
  /**
   * The real path of the file that a call writes. Calls of one reply that write the same file keep
   * their order also where calls run in parallel.
   */
  writtenPath?(args: Record<string, unknown>): string | undefined | Promise<string | undefined>;
  /** One line about the tool for the system prompt, beside its declaration. */
  readonly promptSnippet?: string;
  /** Rules for the system prompt while the tool is active. */
  readonly promptGuidelines?: readonly string[];
  /** Converts what a model sent (an older shape, a JSON string) before validation. */
  prepareArguments?(received: Record<string, unknown>): Record<string, unknown>;
  execute(args: Arguments, call: ToolCallContext): Promise<ToolResult>;
}
