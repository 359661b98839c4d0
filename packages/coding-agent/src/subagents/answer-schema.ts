import { ToolError } from "@tau-agent/agent";
import { isJsonObject } from "../files/read-json.ts";
import { errorMessage } from "../files/read-text.ts";

/** How long an answer may hold up the host; others take well under a millisecond. */
const CHECK_LIMIT_MS = 500;

/** Checks answers against a JSON Schema. */
export interface AnswerSchema {
  /** What a subagent is told about its answer. */
  readonly instruction: string;
  /** The value in an answer, or what is wrong with it. */
  check(text: string): { readonly value: unknown } | { readonly problem: string };
}

const types = new Set(["null", "boolean", "object", "array", "number", "string", "integer"]);

/**
 * Reads a JSON Schema.
 *
 * @throws {ToolError} naming the place that is no schema
 */
export async function readAnswerSchema(schema: unknown): Promise<AnswerSchema> {
  checkSchema(schema, "outputSchema");
  const { Validator } = await import("@cfworker/json-schema");
  const inTime = await loadTimeLimit();
  const validator = createValidator(() => new Validator(schema as object, "2020-12", false));
  const instruction = `Your last message must be one JSON value and nothing else, fitting this JSON Schema:\n${JSON.stringify(schema)}`;
  return {
    instruction,
    check: (text) => {
      const found = parseAnswer(text);
      if (found === undefined) return { problem: "It is not JSON." };
      const checked = inTime(() => validator.validate(found.value));
      if (checked === undefined) return { problem: "Its check against a pattern does not end." };
      const { valid, errors } = checked;
      if (valid) return { value: found.value };
      const lines = errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
      return { problem: lines.slice(0, 20).join("\n") };
    },
  };
}

/** Only V8 itself can stop a regular expression that backtracks without end. */
async function loadTimeLimit(): Promise<<T>(work: () => T) => T | undefined> {
  const { runInNewContext } = await import("node:vm");
  return (work) => {
    try {
      return runInNewContext("work()", { work }, { timeout: CHECK_LIMIT_MS });
    } catch (error) {
      if (isTimeout(error)) return undefined;
      throw error;
    }
  };
}

/** It comes from the other context and is no `Error` of this one. */
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

/** A reference that leads nowhere shows only when it is followed. */
function createValidator(create: () => SchemaValidator): SchemaValidator {
  try {
    const validator = create();
    validator.validate({});
    return validator;
  } catch (error) {
    const reason = errorMessage(error).split("\n", 1)[0] ?? "";
    throw new ToolError(`outputSchema is no valid JSON Schema: ${reason}`);
  }
}

function checkSchema(schema: unknown, at: string): void {
  const refuse = (reason: string): never => {
    throw new ToolError(`outputSchema is no valid JSON Schema: ${at} ${reason}.`);
  };
  if (typeof schema === "boolean" && at !== "outputSchema") return;
  if (!isJsonObject(schema)) throw refuse("must be an object");
  const { type, properties, items, required, pattern } = schema;
  for (const word of type === undefined ? [] : [type].flat()) {
    if (!types.has(String(word))) refuse(`has the unknown type ${JSON.stringify(word)}`);
  }
  if (required !== undefined && !Array.isArray(required)) refuse("has a required that is no list");
  if (pattern !== undefined) {
    try {
      new RegExp(String(pattern), "u");
    } catch {
      refuse("has a pattern that is no regular expression");
    }
  }
  if (properties !== undefined) {
    if (!isJsonObject(properties)) throw refuse("has properties that are no object");
    for (const [name, value] of Object.entries(properties)) checkSchema(value, `${at}.${name}`);
  }
  if (items !== undefined && !Array.isArray(items)) checkSchema(items, `${at}.items`);
}

/** The JSON of an answer: all of it, its last fenced block, or what its outer brackets hold. */
function parseAnswer(text: string): { value: unknown } | undefined {
  const fenced = [...text.matchAll(/```(?:json)?[ \t]*\n([^`]*)\n```/g)].at(-1)?.[1];
  const start = text.search(/[[{]/);
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  const outer = start === -1 || end < start ? undefined : text.slice(start, end + 1);
  for (const candidate of [text, fenced, outer]) {
    if (candidate === undefined) continue;
    try {
      return { value: JSON.parse(candidate) };
    } catch {
      // The next way of reading it.
    }
  }
  return undefined;
}
