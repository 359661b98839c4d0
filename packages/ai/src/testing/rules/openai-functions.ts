import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import { objectOf, textOf } from "../wire/json.ts";
import { repeated, schemaFaults } from "./common.ts";

const namePattern = /^[a-zA-Z0-9_-]+$/;
const maxNameLength = 64;

export function badName(place: string): string {
  return `Invalid '${place}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
}

export function emptyList(place: string): string {
  return `Invalid '${place}': empty array. Expected an array with minimum length 1, but got an empty array instead.`;
}

export function isImageUrl(url: string): boolean {
  return /^https?:|^data:image\/(?:png|jpeg|gif|webp);base64,./.test(url);
}

export function* sameNames(functions: readonly JsonObject[]): Generator<string> {
  for (const name of repeated(functions.map(({ name }) => textOf(name)).filter(Boolean))) {
    yield `Invalid 'tools': function names must be unique, found '${name}' twice.`;
  }
}

/** What both of OpenAI's formats refuse in a function definition. */
export function* functionFaults(tool: JsonObject, place: string): Generator<string> {
  const name = textOf(tool.name);
  if (!namePattern.test(name)) yield badName(`${place}.name`);
  if (name.length > maxNameLength) {
    yield `Invalid '${place}.name': string too long. Expected a string with maximum length ${maxNameLength}, but got a string with length ${name.length} instead.`;
  }
  const { parameters } = tool;
  if (parameters === undefined) return;
  const schema = objectOf(parameters);
  const wrong = `Invalid schema for function '${name}'`;
  yield* rootFaults(schema, wrong);
  for (const path of arraysWithoutItems(schema, [])) {
    yield `${wrong}: In context=(${path.join(", ")}), array schema missing items.`;
  }
}

/** What both of OpenAI's formats refuse in any object schema. */
export function* rootFaults(schema: JsonObject, wrong: string): Generator<string> {
  if (schema.type !== "object") {
    yield `${wrong}: schema must be a JSON Schema of 'type: "object"', got 'type: ${JSON.stringify(schema.type ?? "None")}'.`;
  }
  if (["oneOf", "anyOf", "allOf", "enum", "not"].some((keyword) => keyword in schema)) {
    yield `${wrong}: schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`;
  }
  for (const { path, why } of schemaFaults(schema))
    yield `${wrong}: ${why}. (${path || "top level"})`;
}

function* arraysWithoutItems(
  schema: unknown,
  path: readonly string[],
): Generator<readonly string[]> {
  if (!isJsonObject(schema)) return;
  if (schema.type === "array" && schema.items === undefined && schema.prefixItems === undefined) {
    yield path;
  }
  for (const [name, member] of Object.entries(objectOf(schema.properties))) {
    yield* arraysWithoutItems(member, [...path, "'properties'", `'${name}'`]);
  }
  yield* arraysWithoutItems(schema.items, [...path, "'items'"]);
}
