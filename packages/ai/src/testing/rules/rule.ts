import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { LoopbackApi } from "../loopback-api.ts";
import type { BoundThinkingMemory } from "./bound-thinking.ts";

export interface RuleRequest {
  readonly api: LoopbackApi;
  readonly path: string;
  /** The query with its `?`. */
  readonly search?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: JsonObject;
}

/** The limits of a model that a server serves, if known. */
export interface ModelLimits {
  readonly contextWindow: number;
  readonly maxTokens: number;
}

export interface RuleMemory {
  /** Maps each thinking signature to the prefix for which it was made. */
  readonly signed: BoundThinkingMemory;
  readonly models: Map<string, ModelLimits>;
}

export interface Rule {
  readonly api: LoopbackApi;
  /** A short name, unique within its format. */
  readonly rule: string;
  /** Why the request is refused, in the vendor's words; undefined if it is accepted. */
  check(request: RuleRequest, memory: RuleMemory): string | undefined;
}

/** A request that was refused. */
export interface Refusal {
  readonly api: LoopbackApi;
  readonly rule: string;
  readonly message: string;
}

/** The errors in a request, in the vendor's words; only the first counts. */
type Complaints = (request: RuleRequest, memory: RuleMemory) => Iterable<string>;

/** Rules of a format, by their short names. */
export function rulesOf(api: LoopbackApi, rules: Readonly<Record<string, Complaints>>): Rule[] {
  return Object.entries(rules).map(([rule, complaints]) => ({
    api,
    rule,
    check(request, memory) {
      for (const complaint of complaints(request, memory)) return complaint;
      return undefined;
    },
  }));
}
