import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import type { ScopedModel } from "../../models/resolver.ts";
import type { ToolEnvironment } from "../../processes/environment.ts";
import type { SettingsStore } from "../../settings/store.ts";
import type { AgentDefinition } from "../agents/agent-definition.ts";
import type { SessionBudget } from "../budgets/session-budget.ts";
import type { SubagentRunner } from "../runners/subagent-runner.ts";

/** The session that gives tasks out. */
interface TaskingSession {
  /** Its file; undefined in memory. */
  readonly sessionFile: string | undefined;
  readonly model: Model | undefined;
  readonly thinkingLevel: ThinkingLevel;
  /** Whether code of the folder it is in may be loaded. */
  readonly isProjectTrusted: boolean;
  /** The model a pattern names, of the session's own provider where several have it; undefined for none. */
  findModel(pattern: string): Promise<ScopedModel | undefined>;
  report(event: SessionEvent): void | Promise<void>;
}

/** What tasks are carried out with. */
export interface TaskServices {
  readonly environment: ToolEnvironment;
  readonly settings: SettingsStore;
  readonly agentDirectory: string;
  readonly budget: SessionBudget;
  readonly runner: SubagentRunner;
  /** How deep the session itself stands: 0 for a person's. */
  readonly depth: number;
  /** What the session was told to do without; its subagents do, too. */
  readonly excludedTools: (agent: AgentDefinition) => readonly string[];
  /** Agents the session may start; all when absent. */
  readonly allowedAgents: readonly string[] | undefined;
  readonly session: () => TaskingSession;
}

/** Whether a session that stands `depth` deep may start subagents. */
export function maySpawnAt({ settings }: Pick<TaskServices, "settings">, depth: number): boolean {
  return depth < settings.get("task.maxRecursionDepth");
}
