import { errorMessage, isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { ToolError } from "./errors.ts";

/** A regular expression in a JSON Schema and its path, such as `outputSchema.properties.a.pattern`. */
export interface SchemaPattern {
  readonly at: string;
  readonly source: string;
}

type Schema = Readonly<Record<string, unknown>>;

/** A nested schema. */
interface Part {
  readonly at: string;
  readonly schema: Schema;
}

/** More than any schema that a model could follow. */
const MAX_LENGTH = 256 * 1024;
const MAX_DEPTH = 100;

const types = new Set(["null", "boolean", "object", "array", "number", "string", "integer"]);
/** Keywords whose value is a schema or a list of schemas. */
const inner = [
  ...["items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"],
  ...[
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
  ],
];
const choices = ["allOf", "anyOf", "oneOf"];
const lists = ["required", "enum", ...choices];
/** Keywords whose value maps names to schemas. */
const named = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/**
 * Checks a schema called `name` before any work is done for an answer that must fit it.
 *
 * @returns its regular expressions
 * @throws {ToolError} with the invalid place
 */
export function checkSchema(schema: unknown, name: string): SchemaPattern[] {
  const refuse = (at: string, reason: string): never => {
    throw new ToolError(`${name} is not valid JSON Schema: ${at} ${reason}.`);
  };
  if (!isJsonObject(schema)) throw refuse(name, "must be an object");
  const excess = schemaExcess(schema);
  if (excess !== undefined) refuse(name, excess);
  const patterns: SchemaPattern[] = [];
  for (const part of partsOf(schema, name, refuse)) {
    const problem = problemOf(part, schema);
    if (problem !== undefined) refuse(part.at, problem);
    patterns.push(...patternsOf(part));
  }
  for (const { at, source } of patterns) {
    try {
      new RegExp(source, "u");
    } catch (error) {
      refuse(
        `${at} ${JSON.stringify(source)}`,
        `is not a regular expression (${errorMessage(error)})`,
      );
    }
  }
  return patterns;
}

type Refuse = (at: string, reason: string) => never;

function partsOf(schema: unknown, at: string, refuse: Refuse): Part[] {
  if (schema === undefined || typeof schema === "boolean") return [];
  if (Array.isArray(schema)) {
    return schema.flatMap((part: unknown, index) => partsOf(part, `${at}[${index}]`, refuse));
  }
  if (!isJsonObject(schema)) throw refuse(at, "must be an object");
  const members = named.flatMap((key) => {
    const { [key]: value = {} } = schema;
    if (!isJsonObject(value)) throw refuse(at, `has ${key} that are not an object`);
    return Object.entries(value).map(([name, part]) => [`${key}.${name}`, part] as const);
  });
  const parts = [...inner, ...choices].map((key) => [key, schema[key]] as const);
  const all = [...members, ...parts];
  return [{ at, schema }, ...all.flatMap(([key, part]) => partsOf(part, `${at}.${key}`, refuse))];
}

function problemOf({ schema }: Part, root: unknown): string | undefined {
  const { type, $ref } = schema;
  const wrong = (type === undefined ? [] : [type].flat()).find((word) => !types.has(String(word)));
  if (wrong !== undefined) return `has the unknown type ${JSON.stringify(wrong)}`;
  const key = lists.find((name) => schema[name] !== undefined && !Array.isArray(schema[name]));
  if (key !== undefined) return `has a member ${key} that is not a list`;
  if ($ref === undefined) return undefined;
  if (typeof $ref !== "string") return "has a $ref that is not a string";
  return leadsNowhere($ref, root) ? `has a $ref that leads nowhere: ${$ref}` : undefined;
}

/** Whether a pointer into the schema does not resolve; the validator checks other references. */
function leadsNowhere(reference: string, root: unknown): boolean {
  if (!reference.startsWith("#/")) return false;
  let found = root;
  for (const step of reference.slice(2).split("/")) {
    const name = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return true;
    found = (found as Readonly<Record<string, unknown>>)[name];
  }
  return false;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function patternsOf({ at, schema }: Part): SchemaPattern[] {
  const { pattern, patternProperties = {} } = schema;
  const names = Object.keys(patternProperties as object);
  const ofNames = names.map((source) => ({ at: `${at}.patternProperties`, source }));
  const own = pattern === undefined ? [] : [{ at: `${at}.pattern`, source: String(pattern) }];
  return [...own, ...ofNames];
}

/** Why a schema exceeds the limits of this host, as the end of a sentence; undefined if it does not. */
export function schemaExcess(schema: object): string | undefined {
  if (isTooDeep(schema)) return `is nested more than ${MAX_DEPTH} levels deep`;
  const { length } = JSON.stringify(schema);
  return length > MAX_LENGTH ? `is longer than ${MAX_LENGTH / 1024} KiB` : undefined;
}

/**
 * Iterative, because recursion would overflow the stack. The value of a keyword may be an object or a list of schemas.
 */
function isTooDeep(schema: object): boolean {
  let level: readonly unknown[] = [schema];
  for (let depth = 0; depth <= 2 * MAX_DEPTH; depth += 1) {
    level = level.flatMap((value) =>
      typeof value === "object" && value !== null ? Object.values(value) : [],
    );
    if (level.length === 0) return false;
  }
  return true;
}
