import type { AnswerSchema } from "@tau-agent/system";
import type { AgentDefinition } from "../agents/agent-definition.ts";
import type { VerifyRequest } from "../verification/verify-config.ts";

/** One task, ready to execute. */
export interface Task {
  readonly id: string;
  readonly agent: AgentDefinition;
  readonly description: string | undefined;
  readonly prompt: string;
}

export interface TaskOrder {
  readonly tasks: readonly Task[];
  readonly modelPattern: string | undefined;
  readonly answerSchema: AnswerSchema | undefined;
  readonly isolated: boolean;
  readonly verify: VerifyRequest;
}
