import type { AgentDefinition } from "../agents/agent-definition.ts";
import type { VerifyRequest } from "../verification/verify-config.ts";
import type { AnswerSchema } from "./answer-schema.ts";

/** One task, ready to be carried out. */
export interface Task {
  readonly id: string;
  readonly agent: AgentDefinition;
  readonly description: string | undefined;
  /** The whole text the subagent is given. */
  readonly prompt: string;
}

/** What one call of the tool asks for. */
export interface TaskOrder {
  readonly tasks: readonly Task[];
  readonly modelPattern: string | undefined;
  readonly answerSchema: AnswerSchema | undefined;
  readonly isolated: boolean;
  readonly verify: VerifyRequest;
}
