import type { AgentTool } from "@tau-agent/agent";

/** The tools that `tool_search` looks through. */
export interface DeferredTools {
  /** All of them, found or not. */
  readonly deferred: readonly AgentTool[];
  isLoaded(name: string): boolean;
  /** Whether the model cannot be given further declarations: then the result has to say it all. */
  readonly areCalledByName: boolean;
  /** Lets the model call them from its next request on; not undone when the session is reopened. */
  load(names: readonly string[]): void;
}
