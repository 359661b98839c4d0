import type { BudgetLimits, SessionEvent } from "@tau-agent/rpc-protocol";
import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import type { AgentDefinition } from "../agents/agent-definition.ts";
import type { BudgetChange } from "../budgets/session-budget.ts";

/** What a subagent is started with. */
export interface SubagentRequest {
  readonly id: string;
  readonly agent: AgentDefinition;
  /** Where it works: the caller's folder or an isolated tree. */
  readonly cwd: string;
  readonly model: Model | undefined;
  /** As for `--model`, where the session itself knows no such model. */
  readonly modelPattern: string | undefined;
  readonly thinkingLevel: ThinkingLevel;
  /** Where its session file goes; in memory when absent. */
  readonly sessionDirectory: string | undefined;
  /** How deep it stands: 1 for one that a person's session starts. */
  readonly depth: number;
  /** Whether it may start subagents itself. */
  readonly maySpawn: boolean;
  /** Tools it must not have, whatever its agent says; patterns as for `--exclude-tools`. */
  readonly excludedTools: readonly string[];
  readonly isProjectTrusted: boolean;
  readonly budget: BudgetLimits;
  /** Aborted when it is not wanted any more, also before it has started. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: SessionEvent) => void;
}

/** How a prompt to a subagent ended. */
export interface SubagentReply {
  readonly status: "completed" | "aborted" | "error";
  /** The text of its last message. */
  readonly text: string;
  readonly error?: string | undefined;
}

/** A subagent that is there until it is stopped. */
export interface Subagent {
  readonly sessionFile: string | undefined;
  prompt(text: string): Promise<SubagentReply>;
  /** Changes what it may use, all of its prompts together. */
  setBudget(change: BudgetChange): Promise<void>;
  /** Ends it and all it started. May be called while a prompt is on. */
  stop(): Promise<void>;
}

/** Starts subagents: as processes of the same host, or in the embedder's own process. */
export type SubagentRunner = (request: SubagentRequest) => Promise<Subagent>;

/** Everything a subagent has to do without. */
export function excludedFor({ excludedTools, maySpawn }: SubagentRequest): readonly string[] {
  return maySpawn ? excludedTools : [...excludedTools, "task"];
}
