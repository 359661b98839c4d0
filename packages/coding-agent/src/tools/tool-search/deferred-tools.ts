import type { AgentTool } from "@tau-agent/agent";

/** The tools that `tool_search` searches. */
export interface DeferredTools {
  /** All of them, whether found or not. */
  readonly deferred: readonly AgentTool[];
  isLoaded(name: string): boolean;
  /** Whether the model accepts no additional declarations, so that the result must contain everything. */
  readonly areCalledByName: boolean;
  /** Lets the model call these tools from its next request on, including after a reopen. */
  load(names: readonly string[]): void;
}
