/**
 * The parts of the Agent Trajectory Interchange Format that Tau writes. Its rules are in `__fixtures__/check-atif.ts`.
 */
export const ATIF_VERSION = "ATIF-v1.7";

type Extra = Readonly<Record<string, unknown>>;

export interface AtifTrajectory {
  readonly schema_version: typeof ATIF_VERSION;
  readonly session_id: string;
  /** The id by which references name an embedded trajectory. */
  readonly trajectory_id: string;
  readonly agent: {
    readonly name: string;
    readonly version: string;
    readonly model_name?: string;
    readonly tool_definitions?: readonly AtifToolDefinition[];
    readonly extra?: Extra;
  };
  readonly steps: readonly AtifStep[];
  readonly notes?: string;
  readonly final_metrics: {
    readonly total_prompt_tokens: number;
    readonly total_completion_tokens: number;
    readonly total_cached_tokens: number;
    readonly total_cost_usd: number;
    readonly total_steps: number;
    readonly extra?: Extra;
  };
  readonly subagent_trajectories?: readonly AtifTrajectory[];
}

export interface AtifToolDefinition {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: unknown;
  };
}

export interface AtifStep {
  /** Counts from 1, without gaps. */
  readonly step_id: number;
  readonly timestamp?: string;
  readonly source: "system" | "user" | "agent";
  readonly message: AtifContent;
  readonly model_name?: string;
  readonly reasoning_effort?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly AtifToolCall[];
  readonly observation?: { readonly results: readonly AtifResult[] };
  readonly metrics?: AtifMetrics;
  readonly llm_call_count?: number;
  readonly extra?: Extra;
}

export type AtifContent = string | readonly AtifPart[];

export type AtifPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image";
      readonly source: { readonly media_type: string; readonly path: string };
    };

export interface AtifToolCall {
  readonly tool_call_id: string;
  readonly function_name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly extra?: Extra;
}

export interface AtifResult {
  readonly source_call_id?: string;
  readonly content?: AtifContent;
  readonly subagent_trajectory_ref?: readonly {
    readonly trajectory_id: string;
    readonly session_id: string;
    readonly extra?: Extra;
  }[];
  readonly extra?: Extra;
}

export interface AtifMetrics {
  /** All input tokens, cached or not. */
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** The part of `prompt_tokens` that came from a cache. */
  readonly cached_tokens: number;
  readonly cost_usd: number;
  readonly extra?: Extra;
}
