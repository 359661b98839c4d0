import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { mostNested } from "./json-text.ts";
import type { ToolRules } from "./tool-rules.ts";

type Schema = Readonly<Record<string, unknown>>;

/** A schema that cannot be expressed in a form that the vendor accepts; the message says why. */
export class UnusableSchema extends Error {
  override readonly name = "UnusableSchema";
}

/**
 * A tool's schema in a form that the vendor accepts, with as much of its meaning as possible: calls are
 * validated against the tool's own schema anyway.
 *
 * @throws {UnusableSchema} if there is no such schema
 */
export function wireSchema(given: unknown, rules: ToolRules): Schema {
  if (!isJsonObject(given)) throw new UnusableSchema("its parameters are no JSON schema");
  const root = withoutRefused(given, rules);
  if (root.type !== undefined && root.type !== "object") {
    throw new UnusableSchema("its parameters are not an object");
  }
  const clean = cleanSchema({ ...root, type: "object" }, { rules, root: given, depth: 0 });
  return { ...clean, properties: clean.properties ?? {} };
}

/** Merges alternatives into one object that requires only what all of them require. */
function withoutRefused(schema: Schema, { refusedAtRoot }: ToolRules): Schema {
  const refused = refusedAtRoot.filter((keyword) => keyword in schema);
  if (refused.length === 0) return schema;
  const rest = Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => !refused.includes(keyword)),
  );
  const partsOf = (keyword: string) =>
    refused.includes(keyword) ? schemasIn(schema[keyword]) : [];
  const alternatives = [...partsOf("anyOf"), ...partsOf("oneOf")];
  const parts = [...partsOf("allOf"), ...alternatives];
  const required = new Set([rest, ...partsOf("allOf")].flatMap((part) => names(part.required)));
  const [first, ...others] = alternatives;
  for (const name of names(first?.required)) {
    if (others.every((other) => names(other.required).includes(name))) required.add(name);
  }
  const properties = Object.assign(
    {},
    ...[...parts, rest].map((part) => objectOf(part.properties)),
  );
  return { ...rest, type: rest.type ?? "object", properties, required: [...required] };
}

interface Place {
  readonly rules: ToolRules;
  /** The schema to which references are relative. */
  readonly root: Schema;
  readonly depth: number;
}

const types: ReadonlySet<unknown> = new Set([
  ...["string", "number", "integer", "boolean", "object", "array", "null"],
]);
const lists: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const singles: ReadonlySet<string> = new Set([
  ...["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"],
]);
const maps: ReadonlySet<string> = new Set(["$defs", "definitions", "patternProperties"]);

function cleanSchema(schema: Schema, place: Place): Record<string, unknown> {
  if (place.depth > mostNested / 4) throw new UnusableSchema("its schema is nested too deeply");
  const clean: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const kept = cleanKeyword(keyword, value, schema, place);
    if (kept !== undefined) clean[keyword] = kept;
  }
  const required = names(schema.required).filter((name) => hasOwn(clean.properties, name));
  const lost = names(schema.required).find(
    (name) => hasOwn(schema.properties, name) && !required.includes(name),
  );
  if (lost !== undefined) {
    throw new UnusableSchema(`it requires the property ${JSON.stringify(lost)}`);
  }
  if (required.length > 0) clean.required = required;
  if (clean.type === "array" && clean.items === undefined && clean.prefixItems === undefined) {
    clean.items = {};
  }
  return clean;
}

/** The value of a keyword; undefined if it has no meaning in the current JSON Schema. */
function cleanKeyword(keyword: string, value: unknown, schema: Schema, place: Place): unknown {
  const below = { ...place, depth: place.depth + 1 };
  if (keyword === "$schema" || keyword === "required") return undefined;
  if (keyword === "type") return cleanType(value);
  if (keyword === "properties") return cleanProperties(value, below);
  if (keyword === "$ref") return leadsSomewhere(value, place.root) ? value : undefined;
  if (keyword === "enum") return Array.isArray(value) && value.length > 0 ? value : undefined;
  if (keyword === "pattern") return isPattern(value) ? value : undefined;
  if (keyword === "exclusiveMinimum") return exclusive(value, schema.minimum);
  if (keyword === "exclusiveMaximum") return exclusive(value, schema.maximum);
  if (keyword === "items" && Array.isArray(value)) {
    return { anyOf: schemasIn(value).map((item) => cleanSchema(item, below)) };
  }
  if (lists.has(keyword)) {
    const parts = schemasIn(value).map((part) => cleanSchema(part, below));
    return parts.length > 0 ? parts : undefined;
  }
  if (singles.has(keyword)) {
    if (typeof value === "boolean") return keyword === "items" ? {} : value;
    return isJsonObject(value) ? cleanSchema(value, below) : undefined;
  }
  if (!maps.has(keyword)) return value;
  const entries = Object.entries(objectOf(value)).filter(([, part]) => isJsonObject(part));
  return Object.fromEntries(
    entries.map(([name, part]) => [name, cleanSchema(part as Schema, below)]),
  );
}

function cleanProperties(value: unknown, place: Place): Record<string, unknown> {
  const { propertyName } = place.rules;
  return Object.fromEntries(
    Object.entries(objectOf(value))
      .filter(([name]) => propertyName?.test(name) ?? true)
      .map(([name, part]) => [name, isJsonObject(part) ? cleanSchema(part, place) : {}]),
  );
}

function cleanType(value: unknown): unknown {
  if (!Array.isArray(value)) return types.has(value) ? value : undefined;
  const known = [...new Set(value.filter((type) => types.has(type)))];
  return known.length > 0 ? known : undefined;
}

/** Draft 4 used a boolean to make the other bound exclusive. */
function exclusive(value: unknown, bound: unknown): unknown {
  if (typeof value === "number") return value;
  return value === true && typeof bound === "number" ? bound : undefined;
}

function isPattern(value: unknown): boolean {
  try {
    new RegExp(String(value), "u");
    return typeof value === "string";
  } catch {
    return false;
  }
}

function leadsSomewhere(reference: unknown, root: Schema): boolean {
  if (typeof reference !== "string" || !reference.startsWith("#")) return false;
  const steps = reference.slice(1).split("/").slice(1);
  let at: unknown = root;
  for (const step of steps) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!hasOwn(at, name)) return false;
    at = (at as Schema)[name];
  }
  return isJsonObject(at);
}

function schemasIn(value: unknown): Schema[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function names(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}

function objectOf(value: unknown): Schema {
  return isJsonObject(value) ? value : {};
}

function hasOwn(value: unknown, name: string): boolean {
  return isJsonObject(value) && Object.hasOwn(value, name);
}
