import type { WrittenConversation } from "@tau-agent/sessions/log";
import type { AnswerSchema } from "@tau-agent/system";
import type { AgentDefinition } from "../agents/agent-definition.ts";
import type { VerifyRequest } from "../verification/verify-config.ts";
import type { SubagentRecord } from "./subagent-record.ts";

/** One task, ready to execute. */
export interface Task {
  readonly id: string;
  readonly agent: AgentDefinition;
  readonly description: string | undefined;
  readonly prompt: string;
  /** The conversation to continue; undefined for a new one. */
  readonly resumes?: ResumedConversation | undefined;
}

/** The conversation that an ended subagent continues. */
export interface ResumedConversation {
  readonly record: SubagentRecord;
  readonly sessionFile: string;
  /** Its earlier use, according to its own file. */
  readonly totals: WrittenConversation["totals"];
}

export interface TaskOrder {
  readonly tasks: readonly Task[];
  readonly modelPattern: string | undefined;
  readonly answerSchema: AnswerSchema | undefined;
  readonly isolated: boolean;
  readonly verify: VerifyRequest;
}
