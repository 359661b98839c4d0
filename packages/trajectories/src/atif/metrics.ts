import type { Usage } from "@tau-agent/rpc-protocol/messages";
import type { AtifMetrics, AtifStep, AtifTrajectory } from "./atif.ts";

/** The tokens and cost of one reply. A session file may contain numbers that no vendor sends. */
export function metricsOf(usage: Usage): AtifMetrics {
  const cached = tokens(usage.cacheRead);
  const written = tokens(usage.cacheWrite);
  const reasoning = tokens(usage.reasoning);
  const extra = {
    ...(written > 0 && { cache_creation_input_tokens: written }),
    ...(reasoning > 0 && { reasoning_tokens: reasoning }),
  };
  return {
    prompt_tokens: tokens(usage.input) + cached + written,
    completion_tokens: tokens(usage.output),
    cached_tokens: cached,
    cost_usd: cost(usage.cost?.total),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

/** The sums over the steps of one trajectory; its subagents have their own sums. */
export function sumMetrics(
  steps: readonly AtifStep[],
  sessionCostUsd: number | undefined,
): AtifTrajectory["final_metrics"] {
  const all = steps.flatMap(({ metrics }) => metrics ?? []);
  const sum = (of: (metrics: AtifMetrics) => number) =>
    all.reduce((total, metrics) => total + of(metrics), 0);
  const totalCost = sum((metrics) => metrics.cost_usd);
  const whole = cost(sessionCostUsd);
  return {
    total_prompt_tokens: sum((metrics) => metrics.prompt_tokens),
    total_completion_tokens: sum((metrics) => metrics.completion_tokens),
    total_cached_tokens: sum((metrics) => metrics.cached_tokens),
    total_cost_usd: totalCost,
    total_steps: steps.length,
    ...(whole > totalCost && { extra: { session_cost_usd: whole } }),
  };
}

/** More than any vendor reports, and small enough that sums stay exact. */
const MAX_TOKENS = 1e12;

function tokens(count: number | undefined): number {
  return Number.isFinite(count) ? Math.min(MAX_TOKENS, Math.max(0, Math.round(count ?? 0))) : 0;
}

function cost(usd: number | undefined): number {
  return Number.isFinite(usd) ? Math.max(0, usd ?? 0) : 0;
}
