import type { BudgetParams, BudgetResult } from "@tau-agent/rpc-protocol";
import type { AskedRequest } from "./asked-request.ts";

/** A used-up limit as a function gets it. */
export interface BudgetRequest extends BudgetParams, AskedRequest {}

/**
 * Decides whether a used-up limit is raised: `{limit}` above what has been used, or `{stop: true}`. What
 * it throws, and anything else, stops the work. The signal is aborted when the question has ended in
 * another way; its reason is the host's `host_request_resolved`.
 */
export type RaiseBudget = (
  request: BudgetRequest,
  context: { readonly signal: AbortSignal },
) => BudgetResult | Promise<BudgetResult>;
