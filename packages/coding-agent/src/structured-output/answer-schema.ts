import { ToolError } from "@tau-agent/agent";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { isJsonObject } from "../base/files/read-json.ts";
import { checkSchema, type SchemaPattern } from "./schema-check.ts";

/** The time limit of a check; usual ones take well under a millisecond. */
const CHECK_LIMIT_MS = 500;
/** The time limit per pattern when searching for the one that does not end. */
const PATTERN_LIMIT_MS = 50;

/** Checks answers against a JSON Schema. */
export interface AnswerSchema {
  /** Whether an answer fits, or the text that tells the subagent why not. */
  readonly instruction: string;
  /** The value in an answer, or the reason why there is none. */
  check(text: string): { readonly value: unknown } | { readonly problem: string };
  /** Why a value does not fit; undefined when it does. */
  problemOf(value: unknown): string | undefined;
  /** The values that a text is, alone or in its last fence; it gives up when checks take too long. */
  read(text: string): Iterable<unknown>;
}

/**
 * Reads a JSON Schema.
 *
 * @throws {ToolError} naming the invalid place
 */
export async function readAnswerSchema(schema: unknown): Promise<AnswerSchema> {
  const patterns = checkSchema(schema, "outputSchema");
  const { Validator } = await import("@cfworker/json-schema");
  const inTime = await loadTimeLimit();
  const validator = createValidator(() => new Validator(schema as object, "2020-12", false));
  const problemOf = (value: unknown): string | undefined => {
    const checked = inTime(CHECK_LIMIT_MS, () => validator.validate(value));
    if (checked === undefined) {
      const { at = "outputSchema", source } = findEndless(patterns, value, inTime) ?? {};
      return endlessProblem(at, source);
    }
    const { valid, errors } = checked;
    if (valid) return undefined;
    const lines = errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
    return lines.slice(0, 20).join("\n");
  };
  const instruction = `Your last message must be one JSON value and nothing else, fitting this JSON Schema:\n${JSON.stringify(schema)}`;
  return {
    instruction,
    problemOf,
    read: (text) => inTurn(withInner(candidatesOf(text))),
    check: (text) => {
      const problems: string[] = [];
      for (const value of inTurn(withInner([...candidatesOf(text), ...outermostOf(text)]))) {
        const problem = problemOf(value);
        if (problem === undefined) return { value };
        problems.push(problem);
      }
      return { problem: problems[0] ?? "It is not JSON." };
    },
  };
}

function* inTurn(values: readonly unknown[]): Generator<unknown> {
  const deadline = performance.now() + CHECK_LIMIT_MS;
  for (const value of values) {
    yield value;
    if (performance.now() > deadline) return;
  }
}

type InTime = <T>(limitMs: number, work: () => T) => T | undefined;

/**
 * Only V8 can stop a regular expression that backtracks endlessly, with the timeout of a context.
 */
async function loadTimeLimit(): Promise<InTime> {
  const { runInNewContext } = await import("node:vm");
  return (timeout, work) => {
    try {
      return runInNewContext("work()", { work }, { timeout });
    } catch (error) {
      if (isTimeout(error)) return undefined;
      throw error;
    }
  };
}

/** The pattern that made a check run endlessly, if a short search finds it. */
function findEndless(
  patterns: readonly SchemaPattern[],
  value: unknown,
  inTime: InTime,
): SchemaPattern | undefined {
  const texts = textsIn(value);
  const deadline = performance.now() + CHECK_LIMIT_MS;
  return patterns.find(({ source }) => {
    if (performance.now() > deadline) return false;
    const expression = new RegExp(source, "u");
    const tryAll = () => texts.filter((text) => expression.test(text)).length;
    return inTime(PATTERN_LIMIT_MS, tryAll) === undefined;
  });
}

/**
 * Addresses the subagent, whose next answer may be easier, and the caller, who wrote the schema.
 */
function endlessProblem(at: string, source: string | undefined): string {
  const subject = source === undefined ? at : `${at} ${JSON.stringify(source)}`;
  const mend =
    source === undefined
      ? "A shorter answer or a simpler schema can be checked."
      : "A text that plainly fits the pattern can be checked; so can any text once the pattern is " +
        "written without nested repetitions such as (a+)+.";
  return `The answer could not be checked against ${subject}: that did not end within ${CHECK_LIMIT_MS} ms. ${mend}`;
}

/** The error comes from the other context, so it is not an instance of this one's `Error`. */
function isTimeout(error: unknown): boolean {
  if (typeof error !== "object" || error === null || !("code" in error)) return false;
  return error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}

interface SchemaValidator {
  validate(value: unknown): {
    valid: boolean;
    errors: { instanceLocation: string; error: string }[];
  };
}

/** Some mistakes, such as a reference to another document, only show when a value reaches them. */
function createValidator(create: () => SchemaValidator): SchemaValidator {
  const saying = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      const reason = errorMessage(error).split("\n", 1)[0] ?? "";
      throw new ToolError(`outputSchema is not valid JSON Schema: ${reason}`);
    }
  };
  const validator = saying(create);
  const validate = (value: unknown) => saying(() => validator.validate(value));
  validate({});
  return { validate };
}

/** All strings in a value, including names of members. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...textsIn(member)]);
}

/** What of an answer is meant as JSON: all of it, or its last fenced block. */
function candidatesOf(text: string): (string | undefined)[] {
  return [text, [...text.matchAll(/```(?:json)?[ \t]*\n([^`]*)\n```/g)].at(-1)?.[1]];
}

/** What may be meant as JSON in the prose of a subagent: the outermost brackets or braces. */
function outermostOf(text: string): (string | undefined)[] {
  return [/[[{]/, /\{/, /\[/].map((first) => {
    const start = text.search(first);
    const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
    return start === -1 || end < start ? undefined : text.slice(start, end + 1);
  });
}

/** The values of texts that are JSON, and then of those that hold JSON in a string. */
function withInner(texts: readonly (string | undefined)[]): unknown[] {
  const found = [...new Set(texts)].flatMap((text) => parsed(text));
  return [...found, ...found.flatMap((value) => (typeof value === "string" ? parsed(value) : []))];
}

function parsed(text: string | undefined): unknown[] {
  if (text === undefined) return [];
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
}
