import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import { objectOf, textOf } from "../wire/json.ts";
import { schemaFaults } from "./common.ts";

const namePattern = /^[a-zA-Z0-9_-]+$/;
const maxNameLength = 64;

/** What both of OpenAI's formats refuse in a function that a model may call. */
export function* functionFaults(tool: JsonObject, place: string): Generator<string> {
  const name = textOf(tool.name);
  if (!namePattern.test(name)) {
    yield `Invalid '${place}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
  }
  if (name.length > maxNameLength) {
    yield `Invalid '${place}.name': string too long. Expected a string with maximum length ${maxNameLength}, but got a string with length ${name.length} instead.`;
  }
  const { parameters } = tool;
  if (parameters === undefined) return;
  const schema = objectOf(parameters);
  if (!isJsonObject(parameters) || schema.type !== "object") {
    yield `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"', got 'type: ${JSON.stringify(schema.type ?? "None")}'.`;
  }
  const refused = ["oneOf", "anyOf", "allOf", "enum", "not"].find((word) => word in schema);
  if (refused !== undefined) {
    yield `Invalid schema for function '${name}': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`;
  }
  for (const { path, why } of schemaFaults(schema)) {
    yield `Invalid schema for function '${name}': ${why}. (${path || "top level"})`;
  }
  for (const path of arraysWithoutItems(schema, [])) {
    yield `Invalid schema for function '${name}': In context=(${path.join(", ")}), array schema missing items.`;
  }
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
