import type { Params } from "@tau-agent/rpc-protocol";

export interface EvalTask {
  readonly name: string;
  readonly prompt: string;
  /** The folder of which each run gets a copy. */
  readonly folder?: string | undefined;
  /** A shell command that runs before the agent starts. */
  readonly setup?: string | undefined;
  /** A shell command that runs after the agent has ended; exit code 0 means that the run has passed. */
  readonly check: string;
  /** Files that overwrite those of the agent before the check. */
  readonly checkFolder?: string | undefined;
  readonly budget?: Params<"set_budget"> | undefined;
  /** Where the tools act: the name of a workspace in the settings, or a spec. */
  readonly workspace?: string | undefined;
  /** Changes when anything that defines a run changes. */
  readonly digest: string;
}

/** How one run of a task ended. */
export interface EvalRun {
  readonly task: string;
  /** Counts from 1. */
  readonly run: number;
  readonly digest: string;
  readonly passed: boolean;
  /** `error`: the run could not take place for a reason outside the agent. */
  readonly status: "completed" | "aborted" | "budget_exceeded" | "error";
  readonly error?: string | undefined;
  /** The end of the check's output if the run did not pass. */
  readonly output?: string | undefined;
  readonly costUsd: number;
  readonly tokens: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
  };
  /** How long the agent worked, excluding setup and check. */
  readonly timeMs: number;
  /** Path of the session file. */
  readonly session?: string | undefined;
}
