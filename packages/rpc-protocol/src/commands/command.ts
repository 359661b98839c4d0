import type * as z from "zod/mini";
import { noParams } from "./shared.ts";

/** The fields of a command besides `id` and `type`. */
export type ParamsShape = z.ZodMiniObject;

/**
 * One command of the protocol, as data. Decoding, handler types, client methods and the reference
 * in `docs/` all derive from it. Schemas are thunks, so that a host builds only those it needs.
 */
export interface Command<
  P extends ParamsShape = ParamsShape,
  R extends z.ZodMiniType = z.ZodMiniType,
  K extends readonly string[] = readonly string[],
> {
  /** One sentence for the reference. */
  readonly summary: string;
  readonly params: () => P;
  /** Whether it has fields besides `id` and `type`; where there are none, there is nothing to check. */
  readonly hasFields: boolean;
  /** The response's `data`. */
  readonly result: () => R;
  /** `initialized`: `data` is only sent after `initialize`, since the document shows none. */
  readonly data: "always" | "none" | "initialized";
  /** Which fields a client method takes as positional arguments, in this order. */
  readonly positional: K;
  /**
   * Acts on the session. Sent after a command that changes the session, it means the new one, and
   * waits for it.
   */
  readonly awaitsSessionChange: boolean;
  /**
   * May take as long as a model, a shell, the end of a run or a person takes. Clients do not time it
   * out unless they are asked to.
   */
  readonly takesLong: boolean;
  /** Its answer may come before work that the session is not yet seen doing. */
  readonly beginsWork: boolean;
  /** Refuses fields that it does not know; other commands leave them out. */
  readonly refusesUnknown: boolean;
}

/** Defines a command; see {@link Command}. */
export function command<
  P extends ParamsShape,
  R extends z.ZodMiniType,
  const K extends readonly (keyof z.infer<P> & string)[],
>(definition: {
  summary: string;
  params: () => P;
  result: () => R;
  data?: "always" | "none" | "initialized";
  positional?: K;
  awaitsSessionChange?: true;
  takesLong?: true;
  beginsWork?: true;
  refusesUnknown?: true;
}): Command<P, R, K> {
  return {
    summary: definition.summary,
    params: once(definition.params),
    hasFields: definition.params !== noParams,
    result: definition.result,
    data: definition.data ?? "always",
    positional: definition.positional ?? ([] as unknown as K),
    awaitsSessionChange: definition.awaitsSessionChange ?? false,
    takesLong: definition.takesLong ?? false,
    beginsWork: definition.beginsWork ?? false,
    refusesUnknown: definition.refusesUnknown ?? false,
  };
}

/** Builds a schema at its first use, not for each line (rows "`get_state` idle", "2 000 in one write"). */
function once<Schema>(build: () => Schema): () => Schema {
  let built: Schema | undefined;
  return () => {
    built ??= build();
    return built;
  };
}
