import type { PermissionMode } from "@tau-agent/rpc-protocol";
import type { ThinkingLevel } from "@tau-agent/rpc-protocol/messages";

export interface AgentDefinition {
  readonly name: string;
  readonly description: string;
  /** Its tools; all of them when absent. */
  readonly tools?: readonly string[] | undefined;
  /** A pattern as for `--model`; the parent's model when absent. */
  readonly model?: string | undefined;
  /** Models that answer in this order when that one fails; those of the parent when absent. */
  readonly fallbackModels?: readonly string[] | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  /** The most replies that it may take. */
  readonly maxTurns?: number | undefined;
  /** It works in the stricter of this mode and its caller's. */
  readonly permissionMode?: PermissionMode | undefined;
  /** Agents it may start: names, or `*` for all. All when absent. */
  readonly spawns?: readonly string[] | undefined;
  /** The MCP servers it has of those of its caller's; none when absent. */
  readonly mcpServers?: readonly string[] | undefined;
  /** Added to the system prompt. */
  readonly systemPrompt: string;
  readonly source: "user" | "project" | "bundled";
  /** It never has a tool that the session that starts it does not have. */
  readonly isLimitedToCaller?: boolean;
}

/** Whether an agent that may start `spawns` may start `name`. */
export function maySpawn(spawns: readonly string[] | undefined, name: string): boolean {
  return spawns === undefined || spawns.includes("*") || spawns.includes(name);
}
