import { isJsonObject, nearestHint, SessionError } from "@tau-agent/rpc-protocol/plain";

export interface OptionCheck {
  /** The words that follow "expected" in the error text. */
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
  /** The allowed words; the error names the nearest one. */
  readonly words?: readonly string[];
  readonly isRequired?: boolean;
}

export type OptionChecks = Readonly<Record<string, OptionCheck>>;

const isText = (value: unknown) => typeof value === "string";

/** Accepts anything; the value is checked where it is used. */
export const anything: OptionCheck = { expected: "anything", accepts: () => true };
export const text: OptionCheck = { expected: "a string", accepts: isText };
export const texts: OptionCheck = {
  expected: "a list of strings",
  accepts: (value) => Array.isArray(value) && value.every(isText),
};
/** An object that is not a list. */
export const object: OptionCheck = {
  expected: "an object",
  accepts: isJsonObject,
};
export const list: OptionCheck = { expected: "a list", accepts: Array.isArray };
export const callable: OptionCheck = {
  expected: "a function",
  accepts: (value) => typeof value === "function",
};

/** The same check for an option that must be set. */
export function required(check: OptionCheck): OptionCheck {
  return { ...check, isRequired: true };
}

export function oneOf(words: readonly string[]): OptionCheck {
  const expected = `one of ${words.map((word) => `"${word}"`).join(", ")}`;
  return { expected, words, accepts: (value) => words.some((word) => word === value) };
}

/**
 * Repeats the checks of the types for callers without types: a wrong value would otherwise fail later and elsewhere.
 *
 * @param prefix - put before the names of the options in error texts
 * @throws {SessionError} `invalid_option` naming the first invalid option
 */
export function checkOptions(options: unknown, checks: OptionChecks, prefix = ""): void {
  if (!object.accepts(options)) refuse(prefix.replace(/\.$/, "") || "options", object, options);
  const values = options as Readonly<Record<string, unknown>>;
  for (const [name, check] of Object.entries(checks)) {
    const value = values[name];
    if (value === undefined || value === null ? !check.isRequired : check.accepts(value)) continue;
    refuse(`${prefix}${name}`, check, value);
  }
}

/**
 * Refuses unknown names: a misspelt option would be ignored.
 *
 * @throws {SessionError} `invalid_option` naming the first unknown option and the nearest known one
 */
export function checkNames(options: object, names: readonly string[], prefix = ""): void {
  const unknown = Object.entries(options).find(
    ([name, value]) => value !== undefined && !names.includes(name),
  );
  if (unknown === undefined) return;
  const reason = `there is no such option${nearestHint(unknown[0], names, prefix)}`;
  throw new SessionError("invalid_option", { option: `${prefix}${unknown[0]}`, reason });
}

function refuse(option: string, { expected, words = [] }: OptionCheck, value: unknown): never {
  const hint = typeof value === "string" ? nearestHint(value, words) : "";
  const reason = `expected ${expected}, got ${shown(value)}${hint}`;
  throw new SessionError("invalid_option", { option, reason });
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  if (typeof value === "function") return "a function";
  return typeof value === "string" ? JSON.stringify(value.slice(0, 60)) : String(value);
}
