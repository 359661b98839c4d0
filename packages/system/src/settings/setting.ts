import { isJsonObject } from "@tau-agent/rpc-protocol/plain";

export interface Setting<T> {
  /** What a value looks like, for messages and docs. */
  readonly type: string;
  /** The default; `undefined` if absence has its own meaning. */
  readonly default: T;
  readonly description: string;
  /** How the values of a lower and a higher layer are combined; by default the higher one wins. */
  readonly merge: "replace" | "deep" | "concat";
  /** With "user", the setting is read only from the user's own file: a project must not decide it. */
  readonly scope: "any" | "user";
  accepts(value: unknown): boolean;
}

/** The value type of a row. */
export type SettingValueOf<S> = S extends Setting<infer T> ? T : never;

interface Options {
  readonly scope?: "user";
}

function row<T>(
  kind: Pick<Setting<T>, "type" | "accepts"> & { merge?: Setting<T>["merge"] },
  rest: { default: T; description: string; scope?: "user" | undefined },
): Setting<T> {
  return { merge: "replace", ...kind, ...rest, scope: rest.scope ?? "any" };
}

/** A value that the code using it validates. */
export function raw<T>(type: string, value: T, description: string): Setting<T> {
  return row({ type, accepts: () => true }, { default: value, description });
}

export function flag(value: boolean, description: string): Setting<boolean> {
  return row(
    { type: "boolean", accepts: (found) => typeof found === "boolean" },
    { default: value, description },
  );
}

/** A number of at least 0. */
export function amount<T extends number | undefined>(
  value: T,
  description: string,
): Setting<number | T> {
  const accepts = (found: unknown) =>
    typeof found === "number" && Number.isFinite(found) && found >= 0;
  return row<number | T>({ type: "number ≥ 0", accepts }, { default: value, description });
}

/** A whole number of at least 0. */
export function count<T extends number | undefined>(
  value: T,
  description: string,
  options: Options = {},
): Setting<number | T> {
  const accepts = (found: unknown) => Number.isSafeInteger(found) && Number(found) >= 0;
  return row<number | T>(
    { type: "whole number ≥ 0", accepts },
    { default: value, description, scope: options.scope },
  );
}

/** The longest delay of a timer. */
export const MAX_PERIOD_MS = 2 ** 31 - 1;

export function isPeriod(found: unknown): found is number {
  return Number.isInteger(found) && Number(found) >= 1 && Number(found) <= MAX_PERIOD_MS;
}

/** A period in milliseconds. */
export function period(value: number, description: string): Setting<number> {
  const type = `whole number from 1 to ${MAX_PERIOD_MS}`;
  return row({ type, accepts: isPeriod }, { default: value, description });
}

/** A share from 0 to 1. */
export function ratio(value: number, description: string): Setting<number> {
  const accepts = (found: unknown) => typeof found === "number" && found >= 0 && found <= 1;
  return row({ type: "number from 0 to 1", accepts }, { default: value, description });
}

export function text<T extends string | undefined>(
  value: T,
  description: string,
): Setting<string | T> {
  const accepts = (found: unknown) => typeof found === "string";
  return row<string | T>({ type: "string", accepts }, { default: value, description });
}

export function choice<const C extends readonly string[]>(
  choices: C,
  value: C[number],
  description: string,
  options: Options = {},
): Setting<C[number]> {
  const accepts = (found: unknown) => typeof found === "string" && choices.includes(found);
  const type = choices.map((word) => `"${word}"`).join(" | ");
  return row<C[number]>({ type, accepts }, { default: value, description, scope: options.scope });
}

/** One of a few words. */
export function choices<const C extends readonly string[]>(
  words: C,
  value: readonly C[number][],
  description: string,
): Setting<readonly C[number][]> {
  const accepts = (found: unknown) =>
    isTextList(found) && (found as string[]).every((word) => words.includes(word));
  const type = `list of ${words.map((word) => `"${word}"`).join(", ")}`;
  return row<readonly C[number][]>({ type, accepts }, { default: value, description });
}

function isTextList(found: unknown): boolean {
  return Array.isArray(found) && found.every((entry) => typeof entry === "string");
}

/** A list of strings that replaces the list of the layer below. */
export function list<T extends readonly string[] | undefined>(
  value: T,
  description: string,
  { scope }: Options = {},
): Setting<readonly string[] | T> {
  return row<readonly string[] | T>(
    { type: "list of strings", accepts: isTextList },
    { default: value, description, scope },
  );
}

/** A list of objects that replaces the list of the layer below; `accepts` checks each entry, `type` describes them. */
export function entries<T>(
  accepts: (value: unknown) => boolean,
  type: string,
  description: string,
): Setting<readonly T[]> {
  const acceptsAll = (found: unknown) => Array.isArray(found) && found.every(accepts);
  return row<readonly T[]>({ type, accepts: acceptsAll }, { default: [], description });
}

/** A list of files, folders or patterns; the lists of both settings files are combined. */
export function resources(description: string): Setting<readonly string[]> {
  const kind = { type: "list of paths", accepts: isTextList, merge: "concat" } as const;
  return row<readonly string[]>(kind, { default: [], description });
}

/** The source of a package, alone or with a selection of its content. */
export type PackageSource =
  | string
  | {
      readonly source: string;
      /** The selected resources of each kind; all if absent, none for an empty list. */
      readonly extensions?: readonly string[];
      readonly skills?: readonly string[];
      readonly prompts?: readonly string[];
      /** `false`: only resources selected by the lists count. */
      readonly autoload?: boolean;
    };

/** A list of packages; the lists of both settings files are combined. */
export function packageSources(description: string): Setting<readonly PackageSource[]> {
  const isSource = (entry: unknown) =>
    typeof entry === "string" || (isJsonObject(entry) && typeof entry.source === "string");
  const accepts = (found: unknown) => Array.isArray(found) && found.every(isSource);
  return row<readonly PackageSource[]>(
    { type: "list of sources", accepts, merge: "concat" },
    { default: [], description },
  );
}

/** An object with names chosen by the user; `accepts` checks each value, `type` describes it. */
export function record<T>(
  type: string,
  accepts: (value: unknown) => boolean,
  description: string,
  options: Options = {},
): Setting<Readonly<Record<string, T>>> {
  return row<Readonly<Record<string, T>>>(
    {
      type: `object of ${type}`,
      accepts: (found) => isJsonObject(found) && Object.values(found).every(accepts),
      merge: "deep",
    },
    { default: {}, description, scope: options.scope },
  );
}
