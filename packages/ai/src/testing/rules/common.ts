import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import { listOf, objectOf, textOf } from "../wire/json.ts";

export function unknownMembers(object: JsonObject, known: ReadonlySet<string>): string[] {
  return Object.keys(object).filter((name) => !known.has(name));
}

export function messagesOf({ body }: { readonly body: JsonObject }): readonly JsonObject[] {
  return listOf(body.messages);
}

/** The values that occur more than once, each listed once. */
export function repeated(values: readonly string[]): string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))];
}

/** Whether a value is a non-empty list of objects. */
export function isFilledList(value: unknown): value is readonly JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.every(isJsonObject);
}

const schemaTypes: ReadonlySet<unknown> = new Set([
  ...["object", "array", "string", "number", "integer", "boolean", "null"],
]);

const listsOfSchemas = ["anyOf", "oneOf", "allOf", "prefixItems"];
const mapsOfSchemas = ["properties", "patternProperties", "$defs", "definitions"];
const singleSchemas = ["items", "additionalProperties", "not", "contains", "propertyNames"];

/** The errors in a JSON Schema, as a path and a text; none if it is valid. */
export function* schemaFaults(
  schema: unknown,
  path = "",
): Generator<{ path: string; why: string }> {
  if (typeof schema === "boolean") return;
  if (!isJsonObject(schema)) {
    yield { path, why: `${JSON.stringify(schema)} is not of type 'object', 'boolean'` };
    return;
  }
  yield* keywordFaults(schema, path);
  for (const name of listsOfSchemas) {
    if (schema[name] === undefined) continue;
    const list = schema[name];
    if (!Array.isArray(list) || list.length === 0) yield { path, why: `'${name}' is empty` };
    else for (const member of list) yield* schemaFaults(member, `${path}.${name}`);
  }
  for (const name of mapsOfSchemas) {
    if (schema[name] === undefined) continue;
    if (!isJsonObject(schema[name])) yield { path, why: `'${name}' is not of type 'object'` };
    for (const [key, member] of Object.entries(objectOf(schema[name]))) {
      yield* schemaFaults(member, `${path}.${name}.${key}`);
    }
  }
  for (const name of singleSchemas) {
    if (schema[name] !== undefined) yield* schemaFaults(schema[name], `${path}.${name}`);
  }
}

function* keywordFaults(
  schema: JsonObject,
  path: string,
): Generator<{ path: string; why: string }> {
  const { type, required, enum: values } = schema;
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type];
  for (const one of types) {
    if (!schemaTypes.has(one)) {
      yield { path, why: `${JSON.stringify(one)} is not valid under any of the given schemas` };
    }
  }
  const isTextList = Array.isArray(required) && required.every((name) => typeof name === "string");
  if (required !== undefined && !isTextList)
    yield { path, why: "'required' is not a list of strings" };
  if (values !== undefined && (!Array.isArray(values) || values.length === 0)) {
    yield { path, why: "'enum' should be a non-empty array" };
  }
}

/** The tokens that vendors add to each message, call and result: its role, its id and delimiters. */
const tokensPerItem = 8;

/**
 * A low estimate of a request's input tokens, so that a client with a better estimate is never refused: four
 * characters of text per token, a few tokens for each message, call and result, none for images.
 */
export function estimateTokens(body: JsonObject): number {
  return Math.floor(countCharacters(body) / 4) + countItems(body) * tokensPerItem;
}

const itemTypes: ReadonlySet<unknown> = new Set([
  ...["tool_use", "tool_result", "function", "function_call", "function_call_output"],
]);
const itemMembers = ["role", "functionCall", "functionResponse", "toolUse", "toolResult"];

/** The number of messages, calls and results; tool declarations count only by their text. */
function countItems({ tools: _, toolConfig: __, ...body }: JsonObject): number {
  const count = (value: unknown): number => {
    if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + count(one), 0);
    if (!isJsonObject(value)) return 0;
    const isItem = itemTypes.has(value.type) || itemMembers.some((name) => name in value);
    return Object.values(value).reduce((sum: number, one) => sum + count(one), isItem ? 1 : 0);
  };
  return count(body);
}

const noText: ReadonlySet<string> = new Set([
  ...["data", "url", "image_url", "signature", "encrypted_content", "thoughtSignature"],
]);

function countCharacters(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  for (const [name, member] of Object.entries(value)) {
    if (!noText.has(name)) count += countCharacters(member);
  }
  return count;
}

/** The model named in a request's body or path. */
export function modelOf(body: JsonObject, path: string): string {
  return (
    textOf(body.model) ||
    decodeURIComponent(/models?\/([^/?]+?)(?::\w+$|\/converse-stream$)/.exec(path)?.[1] ?? "")
  );
}

/** The content blocks of a message; a string becomes a block. */
export function blocksOf(content: unknown): readonly JsonObject[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
}
