import type { ProviderErrorCode } from "@tau-agent/ai";

export type FallbackReason = Extract<
  ProviderErrorCode,
  "overloaded" | "rate_limited" | "network" | "timeout" | "quota" | "auth"
>;

/** Which failures make another model answer: always, or if the setting `fallback.on` names them. */
const causes: Readonly<Record<FallbackReason, "always" | "quota" | "auth">> = {
  overloaded: "always",
  rate_limited: "always",
  network: "always",
  timeout: "always",
  quota: "quota",
  auth: "auth",
};

/** The reason for another model to answer after a failure; undefined if there is none. */
export function fallbackReason(
  code: string | undefined,
  on: readonly string[],
): FallbackReason | undefined {
  if (code === undefined || !Object.hasOwn(causes, code)) return undefined;
  const reason = code as FallbackReason;
  const cause = causes[reason];
  return cause === "always" || on.includes(cause) ? reason : undefined;
}

/** The models of a chain, by name, and their state. */
export interface FallbackChain {
  readonly chosen: string;
  /** The fallbacks, in the order of the list. */
  readonly fallbacks: readonly string[];
  readonly failed: string;
  /** The models that have failed since the last successful reply. */
  readonly tried: ReadonlySet<string>;
}

/**
 * The models to try after a failure, in order: the fallbacks after the failed model, then those before
 * it, which may work again, and finally the chosen model. Each is tried once until one answers.
 */
export function modelsToTry({ chosen, fallbacks, failed, tried }: FallbackChain): string[] {
  const at = fallbacks.indexOf(failed) + 1;
  const order = [...fallbacks.slice(at), ...fallbacks.slice(0, at), chosen];
  return [...new Set(order)].filter((name) => name !== failed && !tried.has(name));
}
