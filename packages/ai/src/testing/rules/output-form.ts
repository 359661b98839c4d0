import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import { objectOf, textOf } from "../wire/json.ts";
import { schemaFaults } from "./common.ts";
import { badName, rootFaults } from "./openai-functions.ts";

const maxNameLength = 64;

export function* replyFormFaults(
  type: unknown,
  given: JsonObject,
  place: string,
): Generator<string> {
  if (type === "json_schema") yield* jsonSchemaFaults(given, place);
  else if (type !== "text" && type !== "json_object") {
    const member = place.replace(".json_schema", "");
    yield `Invalid value: '${textOf(type)}'. Supported values are: 'json_object', 'json_schema', and 'text'. (${member}.type)`;
  }
}

export function* jsonSchemaFaults(format: JsonObject, place: string): Generator<string> {
  const name = textOf(format.name);
  if (name === "") yield `Missing required parameter: '${place}.name'.`;
  if (!/^[a-zA-Z0-9_-]*$/.test(name) || name.length > maxNameLength) {
    yield badName(`${place}.name`);
  }
  if (!isJsonObject(format.schema)) {
    yield `Missing required parameter: '${place}.schema'.`;
    return;
  }
  const { schema } = format;
  const wrong = `Invalid schema for response_format '${name}'`;
  yield* rootFaults(schema, wrong);
  if (format.strict === true) yield* strictFaults(schema, wrong, []);
}

/** A strict schema lists all members of its objects and requires them. */
function* strictFaults(schema: unknown, wrong: string, path: readonly string[]): Generator<string> {
  if (!isJsonObject(schema)) return;
  const properties = objectOf(schema.properties);
  const context = `In context=(${path.join(", ")})`;
  if (schema.type === "object") {
    if (schema.additionalProperties !== false) {
      yield `${wrong}: ${context}, 'additionalProperties' is required to be supplied and to be false.`;
    }
    const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
    const missing = Object.keys(properties).find((key) => !required.includes(key));
    if (missing !== undefined) {
      yield `${wrong}: ${context}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
    }
  }
  for (const [name, member] of Object.entries(properties)) {
    yield* strictFaults(member, wrong, [...path, "'properties'", `'${name}'`]);
  }
  yield* strictFaults(schema.items, wrong, [...path, "'items'"]);
}

export function* outputConfigFaults({ format }: JsonObject): Generator<string> {
  if (format === undefined || format === null) return;
  const { type, schema } = objectOf(format);
  if (type !== "json_schema") yield "output_config.format.type: Input should be 'json_schema'";
  if (!isJsonObject(schema)) yield "output_config.format.schema: Field required";
  for (const _ of closedFaults(schema)) {
    yield "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false";
  }
}

function* closedFaults(schema: unknown): Generator<true> {
  if (!isJsonObject(schema)) return;
  if (schema.type === "object" && schema.additionalProperties !== false) yield true;
  for (const member of Object.values(objectOf(schema.properties))) yield* closedFaults(member);
  yield* closedFaults(schema.items);
}

export function* responseSchemaFaults(
  config: JsonObject,
  { model, hasFunctions }: { readonly model: string; readonly hasFunctions: boolean },
): Generator<string> {
  const { responseMimeType: type, responseJsonSchema: schema } = config;
  if (schema !== undefined && type !== "application/json") {
    yield `* GenerateContentRequest.generation_config.response_json_schema: only allowed when response_mime_type is 'application/json'`;
  }
  for (const { path, why } of schemaFaults(schema ?? {})) {
    yield `* GenerateContentRequest.generation_config.response_json_schema${path}: ${why}`;
  }
  if (type === "application/json" && hasFunctions && /gemini-[12]/.test(model)) {
    yield "Function calling with a response mime type: 'application/json' is unsupported";
  }
}
