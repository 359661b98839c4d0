// biome-ignore lint/style/noRestrictedImports: only checks whether the runtime can still open its own files.
import { closeSync, openSync } from "node:fs";
import { createContext, Script } from "node:vm";
import { Validator } from "@cfworker/json-schema";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { checkSchema, type SchemaPattern } from "./check-schema.ts";
import { ToolError } from "./errors.ts";
import { isPlainSchema } from "./is-plain-schema.ts";

/** The time limit of the first check; normal checks take well under a millisecond. */
const CHECK_LIMIT_MS = 500;
/** The limit after several checks that timed out, so that a hostile schema costs less each time. */
const LEAST_LIMIT_MS = 20;
/** The time limit per pattern in the search for the one that does not end, and for the whole search. */
const PATTERN_LIMIT_MS = 50;
const SEARCH_LIMIT_MS = 200;
/** A time limit requires a few file descriptors; without them, the runtime ends the process. */
const LIMIT_FILES = 8;

/** Why a value does not fit a schema, at one path. */
export interface SchemaProblem {
  readonly keyword: string;
  readonly instanceLocation: string;
  readonly error: string;
}

/** Checks a value; returns no problems if it fits. */
export type Check = (value: unknown) => readonly SchemaProblem[];

/** The result of the work, or, if the work was given up, a text that continues a sentence about the value. */
export type Guarded<Result> = { readonly result: Result } | { readonly endless: string };

/**
 * A JSON Schema from another party. Checks against it end in time, whatever it contains: a pattern may
 * backtrack endlessly, references may multiply, and a list may have to be compared with itself.
 */
export class GuardedSchema {
  readonly #schema: unknown;
  readonly #name: string;
  #validator: Validator | undefined;
  #isPlain: boolean | undefined;
  #limitMs = CHECK_LIMIT_MS;
  #endless: SchemaPattern | "unknown" | undefined;

  /** @param name - what texts call the schema, such as `outputSchema`. */
  constructor(schema: unknown, name: string) {
    this.#schema = schema;
    this.#name = name;
  }

  /**
   * Runs work that checks values.
   *
   * @param value - the value to check; the result names the pattern that does not end for it
   * @throws {ToolError} if the schema is invalid at a place that the value reaches
   */
  inTime<Result>(value: unknown, work: (problemsOf: Check) => Result): Guarded<Result> {
    const check = () => ({ result: work((each) => this.#problemsOf(each)) });
    this.#isPlain ??= isPlainSchema(this.#schema);
    if (this.#isPlain) return check();
    if (!canOpenFiles(LIMIT_FILES)) {
      return { endless: `could not be checked against ${this.#name}: too many files are open.` };
    }
    const limitMs = this.#limitMs;
    try {
      const done = inTime(limitMs, check);
      if (done !== undefined) return done;
    } catch (error) {
      // The stack has overflowed, or the list of problems is too long for a function call.
      if (!(error instanceof RangeError)) throw error;
      return {
        endless: `could not be checked against ${this.#name}: it repeats itself too often.`,
      };
    }
    this.#limitMs = Math.max(LEAST_LIMIT_MS, Math.round(limitMs / 4));
    this.#endless ??= findEndless(this.#schema, this.#name, value) ?? "unknown";
    return { endless: describe(this.#endless, this.#name, limitMs) };
  }

  #problemsOf(value: unknown): readonly SchemaProblem[] {
    try {
      this.#validator ??= new Validator(this.#schema as object, "2020-12", false);
      const { valid, errors } = this.#validator.validate(value);
      return valid ? [] : errors;
    } catch (error) {
      if (error instanceof RangeError) throw error;
      const reason = errorMessage(error).split("\n", 1)[0] ?? "";
      throw new ToolError(`${this.#name} is not valid JSON Schema: ${reason}`);
    }
  }
}

function canOpenFiles(count: number): boolean {
  if (process.platform === "win32") return true;
  const files: number[] = [];
  try {
    while (files.length < count) files.push(openSync("/dev/null", "r"));
    return true;
  } catch {
    return false;
  } finally {
    for (const file of files) closeSync(file);
  }
}

let timed: { readonly context: { work?: () => unknown }; readonly script: Script } | undefined;

/** Only V8 can stop a regular expression that backtracks endlessly, through the timeout of a context. */
function inTime<Result>(timeout: number, work: () => Result): Result | undefined {
  timed ??= { context: createContext(Object.create(null)), script: new Script("work()") };
  const { context, script } = timed;
  context.work = work;
  try {
    return script.runInContext(context, { timeout }) as Result;
  } catch (error) {
    if (isTimeout(error)) return undefined;
    throw error;
  } finally {
    delete context.work;
  }
}

/** The error comes from the other context, so it is not an instance of this one's `Error`. */
function isTimeout(error: unknown): boolean {
  if (typeof error !== "object" || error === null || !("code" in error)) return false;
  return error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}

/** The pattern that keeps a check from ending, if a short search finds it. */
function findEndless(schema: unknown, name: string, value: unknown): SchemaPattern | undefined {
  const deadline = performance.now() + SEARCH_LIMIT_MS;
  const found = inTime(SEARCH_LIMIT_MS, () => ({
    patterns: patternsOf(schema, name),
    texts: textsIn(value),
  }));
  return found?.patterns.find(({ source }) => {
    if (performance.now() > deadline) return false;
    const tryAll = () => {
      const expression = new RegExp(source, "u");
      return found.texts.filter((text) => expression.test(text)).length;
    };
    return inTime(PATTERN_LIMIT_MS, tryAll) === undefined;
  });
}

function patternsOf(schema: unknown, name: string): readonly SchemaPattern[] {
  try {
    return checkSchema(schema, name);
  } catch {
    return [];
  }
}

/** The text is for the model, whose next value may be easier to check, and for the author of the schema. */
function describe(pattern: SchemaPattern | "unknown", name: string, limitMs: number): string {
  const gaveUp = `that did not end within ${limitMs} ms`;
  if (pattern === "unknown") {
    return `could not be checked against ${name}: ${gaveUp}. A shorter value or a simpler schema can be checked.`;
  }
  const { at, source } = pattern;
  return `could not be checked against ${at} ${JSON.stringify(source)}: ${gaveUp}. A text that plainly fits the pattern can be checked; so can any text once the pattern is written without nested repetitions such as (a+)+.`;
}

/** All strings in a value, including the names of members. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...textsIn(member)]);
}
