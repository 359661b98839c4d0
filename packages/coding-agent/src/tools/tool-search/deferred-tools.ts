import type { AgentTool } from "@tau-agent/agent";

/** The tools that `tool_search` looks through. */
export interface DeferredTools {
  /** All of them, found or not. */
  readonly deferred: readonly AgentTool[];
  isLoaded(name: string): boolean;
  /** Declares them to the model from its next request on; not undone when the session is reopened. */
  load(names: readonly string[]): void;
}
