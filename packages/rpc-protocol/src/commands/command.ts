import * as z from "zod/mini";
import { type CommandScope, type CommandTraits, traitsOf } from "./traits.ts";

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
  S extends CommandScope = CommandScope,
> extends CommandTraits {
  /** One sentence for the reference. */
  readonly summary: string;
  readonly params: () => P;
  /** Whether it has fields besides `id` and `type`; without any, there is nothing to validate. */
  readonly hasFields: boolean;
  /** The response's `data`. */
  readonly result: () => R;
  readonly scope: S;
  /** Which fields a client method takes as positional arguments, in this order. */
  readonly positional: K;
  /**
   * Whether it may take as long as a model, a shell, the end of a run or a user. By default, clients do not
   * time it out.
   */
  readonly takesLong: boolean;
  /** Whether its answer may arrive before the state shows the run that it starts. */
  readonly startsRun: boolean;
  /** Whether it refuses unknown fields; other commands ignore them. */
  readonly refusesUnknown: boolean;
}

const noParams = () => z.object({});
const nothing = () => z.undefined();

/**
 * Defines a command; see {@link Command}. Without `params`, it has no fields; without `result`, its response
 * has no `data`; without `scope`, it acts on a session.
 */
export function command<
  P extends ParamsShape = ReturnType<typeof noParams>,
  R extends z.ZodMiniType = ReturnType<typeof nothing>,
  const K extends readonly (keyof z.infer<P> & string)[] = readonly (keyof z.infer<P> & string)[],
  S extends CommandScope = "session",
>(definition: {
  summary: string;
  params?: () => P;
  result?: () => R;
  positional?: K;
  scope?: S;
  data?: CommandTraits["data"];
  awaitsSessionChange?: true;
  beginsWork?: true;
  answersAtOnce?: true;
  startsRun?: true;
  takesLong?: true;
  refusesUnknown?: true;
}): Command<P, R, K, S> {
  const { params, result, positional, startsRun = false } = definition;
  return {
    ...traitsOf({ beginsWork: startsRun, data: result ? "always" : "none", ...definition }),
    scope: definition.scope ?? ("session" as S),
    summary: definition.summary,
    params: once(params ?? (noParams as unknown as () => P)),
    hasFields: params !== undefined,
    result: result ?? (nothing as unknown as () => R),
    positional: positional ?? ([] as unknown as K),
    startsRun,
    takesLong: definition.takesLong ?? false,
    refusesUnknown: definition.refusesUnknown ?? false,
  };
}

/** Builds a schema at its first use instead of for each line (rows "`get_state` idle", "2 000 in one write"). */
function once<Schema>(build: () => Schema): () => Schema {
  let built: Schema | undefined;
  return () => {
    built ??= build();
    return built;
  };
}
