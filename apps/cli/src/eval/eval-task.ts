import type { Params } from "@tau-agent/rpc-protocol";

export interface EvalTask {
  readonly name: string;
  readonly prompt: string;
  /** The folder that each run works on a copy of. */
  readonly folder?: string | undefined;
  /** A line for the shell, before the agent begins. */
  readonly setup?: string | undefined;
  /** A line for the shell, once the agent has ended; the run has passed if it exits with 0. */
  readonly check: string;
  /** Files that are laid over those of the agent for the check. */
  readonly checkFolder?: string | undefined;
  readonly budget?: Params<"set_budget"> | undefined;
  /** Where the tools act: a name of the settings, or a spec. */
  readonly workspace?: string | undefined;
  /** Changes with everything that decides what a run is. */
  readonly digest: string;
}

/** How one run of a task ended. */
export interface EvalRun {
  readonly task: string;
  /** From 1 on. */
  readonly run: number;
  readonly digest: string;
  readonly passed: boolean;
  /** `error`: the run could not take place; the agent is not to blame. */
  readonly status: "completed" | "aborted" | "budget_exceeded" | "error";
  readonly error?: string | undefined;
  /** The end of what the check printed, of a run that did not pass. */
  readonly output?: string | undefined;
  readonly costUsd: number;
  readonly tokens: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
  };
  /** How long the agent worked, without setup and check. */
  readonly timeMs: number;
  /** The session's file. */
  readonly session?: string | undefined;
}
