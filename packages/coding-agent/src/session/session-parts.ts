import type { Agent } from "@tau-agent/agent";
import type { AnsweringModel, ModelSelection, Retry } from "@tau-agent/models";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { Conversation } from "@tau-agent/sessions/log";
import type { EventBus } from "@tau-agent/system";
import type { ToolGate } from "../approvals/tool-gate.ts";
import type { Compaction } from "../compaction/compaction.ts";
import type { ResultClearing } from "../compaction/result-clearing.ts";
import type { Admission } from "../run/admission.ts";
import type { BashCommands } from "../run/bash-commands.ts";
import type { CacheWarming } from "../run/cache-warming.ts";
import type { JobNotices } from "../run/job-notices.ts";
import type { ModelRequests } from "../run/model-requests.ts";
import type { OpenOutputs } from "../run/open-outputs.ts";
import type { ProblemReport } from "../run/problem-report.ts";
import type { PromptIntake } from "../run/prompt-intake.ts";
import type { PromptOrigins } from "../run/prompt-origins.ts";
import type { RunContinuation } from "../run/run-continuation.ts";
import type { RunDriver } from "../run/run-driver.ts";
import type { RunEnd } from "../run/run-end.ts";
import type { StepLimits } from "../run/step-limits.ts";
import type { SessionTodos } from "../todos/session-todos.ts";
import type { SessionInputs } from "./session-inputs.ts";
import type { SessionNavigation } from "./session-navigation.ts";
import type { SessionWork } from "./session-work.ts";

/**
 * All connected parts of a session. Embedders get an `AgentSession`; the code that creates sessions and the session's
 * extensions hold the parts themselves.
 */
export interface SessionParts extends Reports, Loop, Work {
  readonly inputs: SessionInputs;
}

export interface Reports {
  readonly events: EventBus<SessionEvent>;
  readonly emit: (event: SessionEvent, promptId?: string) => void | Promise<void>;
  readonly problems: ProblemReport;
  readonly origins: PromptOrigins;
  readonly outputs: OpenOutputs;
  readonly limits: StepLimits;
}

export interface Loop {
  readonly agent: Agent;
  readonly warming: CacheWarming;
  readonly gate: ToolGate;
  readonly driver: RunDriver;
  readonly models: ModelSelection;
  readonly answering: AnsweringModel;
  readonly conversation: Conversation;
  readonly requests: ModelRequests;
  readonly clearing: ResultClearing;
}

export interface Work {
  readonly admission: Admission;
  readonly intake: PromptIntake;
  readonly retry: Retry;
  readonly compaction: Compaction;
  readonly todos: SessionTodos;
  readonly bash: BashCommands;
  readonly notices: JobNotices;
  readonly continuation: RunContinuation;
  readonly runEnd: RunEnd;
  readonly work: SessionWork;
  readonly navigation: SessionNavigation;
}

/** The parts, for functions that are called once all of them exist. */
export type Later = () => SessionParts;
