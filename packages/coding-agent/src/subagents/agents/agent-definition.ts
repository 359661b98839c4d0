import type { PermissionMode } from "@tau-agent/rpc-protocol";
import type { ThinkingLevel } from "@tau-agent/rpc-protocol/messages";

export interface AgentDefinition {
  readonly name: string;
  readonly description: string;
  /** Its tools; all tools if absent. */
  readonly tools?: readonly string[] | undefined;
  /** A model pattern as for `--model`; the parent's model if absent. */
  readonly model?: string | undefined;
  /** Models that answer in this order if that one fails; the parent's fallbacks if absent. */
  readonly fallbackModels?: readonly string[] | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  /** The maximum number of its replies. */
  readonly maxTurns?: number | undefined;
  /** The agent runs in the stricter of this mode and its caller's. */
  readonly permissionMode?: PermissionMode | undefined;
  /** The agents that it may start: names, or `*` for all. All if absent. */
  readonly spawns?: readonly string[] | undefined;
  /** Which of its caller's MCP servers it gets; none if absent. */
  readonly mcpServers?: readonly string[] | undefined;
  /** Added to the system prompt. */
  readonly systemPrompt: string;
  readonly source: "user" | "project" | "bundled";
  /** Whether it never gets a tool that the calling session does not have. */
  readonly isLimitedToCaller?: boolean;
}

/** Whether an agent that may start `spawns` may start `name`. */
export function maySpawn(spawns: readonly string[] | undefined, name: string): boolean {
  return spawns === undefined || spawns.includes("*") || spawns.includes(name);
}
