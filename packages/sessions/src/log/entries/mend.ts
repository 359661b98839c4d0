import { isJsonObject } from "@tau-agent/rpc-protocol/plain";

/** The allowed type of a member, and how an invalid value is replaced. */
export interface Rule {
  fits(value: unknown): boolean;
  /** Returns undefined to remove the member. */
  mend(value: unknown): unknown;
}

/** A rule for each member; a list, because it is iterated for every entry of a long session. */
export type Rules = readonly (readonly [name: string, rule: Rule])[];

/** Rules by the names of members. */
export function rulesOf(members: Readonly<Record<string, Rule>>): Rules {
  return Object.entries(members);
}

/** `record` with its members repaired; the same object if all of them are valid. */
export function mendMembers<T extends object>(record: T, rules: Rules): T {
  const given = record as Readonly<Record<string, unknown>>;
  for (const [name, rule] of rules) if (!rule.fits(given[name])) return mendAll(given, rules) as T;
  return record;
}

function mendAll(given: Readonly<Record<string, unknown>>, rules: Rules): Record<string, unknown> {
  const copy = { ...given };
  for (const [name, rule] of rules) {
    if (rule.fits(given[name])) continue;
    copy[name] = rule.mend(given[name]);
    if (copy[name] === undefined) delete copy[name];
  }
  return copy;
}

function orElse(fits: (value: unknown) => boolean, fallback: unknown): Rule {
  return { fits, mend: () => fallback };
}

export const text = orElse((value) => typeof value === "string", "");
export const number = orElse(Number.isFinite, 0);
export const no = orElse((value) => typeof value === "boolean", false);
export const yes = orElse((value) => typeof value === "boolean", true);

export function oneOf(values: readonly unknown[], fallback: unknown): Rule {
  return orElse((value) => values.includes(value), fallback);
}

/** An optional member, removed if its value is invalid. */
export function optional({ fits }: Rule): Rule {
  return { fits: (value) => value === undefined || fits(value), mend: () => undefined };
}

export function orNull({ fits }: Rule): Rule {
  return optional(orElse((value) => value === null || fits(value), undefined));
}

export function object(members: Readonly<Record<string, Rule>>): Rule {
  const rules = rulesOf(members);
  const mend = (value: unknown) => mendMembers(isJsonObject(value) ? value : {}, rules);
  return { fits: (value) => mend(value) === value, mend };
}

/** A list; items that `member` rejects are dropped. `ofText` converts a text to a list. */
export function list(
  member: (value: unknown) => unknown,
  ofText: (value: string) => unknown[] = () => [],
): Rule {
  return {
    fits: (value) => Array.isArray(value) && value.every((item) => member(item) === item),
    mend: (value) => {
      if (typeof value === "string" && value !== "") return ofText(value);
      if (!Array.isArray(value)) return [];
      return value.map(member).filter((item) => item !== undefined);
    },
  };
}

export function either(first: Rule, second: Rule): Rule {
  return {
    fits: (value) => first.fits(value) || second.fits(value),
    mend: (value) => (Array.isArray(value) ? second : first).mend(value),
  };
}
