import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dereference, type Schema, validate } from "@cfworker/json-schema";
import { SchemaShapes } from "../recording/schema-shapes.ts";

interface Definition {
  readonly $ref?: string;
  readonly anyOf?: readonly Definition[];
  readonly oneOf?: readonly Definition[];
  readonly properties?: Readonly<Record<string, { readonly const?: unknown }>>;
}

const path = createRequire(import.meta.url).resolve("@tau-agent/rpc-protocol/schema.json");
const schema: { $defs: Record<string, Definition> } = JSON.parse(readFileSync(path, "utf8"));

const shapes = new SchemaShapes(schema);
const references = dereference(schema as Schema);
/** Whether values of a shape are allowed, by the name in the schema. */
const verdicts = new Map<string, Map<string, boolean>>();

/** How many different shapes were held against the schema. */
export function countShapes(): number {
  return [...verdicts.values()].reduce((count, { size }) => count + size, 0);
}

/** What tells a value from others, as far as the published schema looks at it. */
export function schemaShape(value: unknown): string {
  return shapes.shapeOf(value);
}

/** Whether a value is what the published schema calls `name`. */
export function isAllowed(name: string, value: unknown): boolean {
  const known = verdicts.get(name) ?? new Map<string, boolean>();
  verdicts.set(name, known);
  const shape = schemaShape(value);
  const verdict = known.get(shape) ?? errorsIn(name, value).length === 0;
  known.set(shape, verdict);
  return verdict;
}

/** Why a value is not what the published schema calls `name`; undefined when it is. */
export function schemaViolation(name: string, value: unknown): string | undefined {
  return isAllowed(name, value) ? undefined : findViolation(name, value);
}

/** As {@link schemaViolation}, from the schema itself for each value. */
export function findViolation(name: string, value: unknown): string | undefined {
  const definition = schema.$defs[name];
  if (definition === undefined) return `there is no schema ${name}`;
  const errors = errorsIn(name, value);
  if (errors.length === 0) return undefined;
  const closest = explanations(definition, value).toSorted((a, b) => a.length - b.length);
  const reasons = (closest[0] ?? errors).map(
    ({ instanceLocation, error }) => `${instanceLocation} ${error}`,
  );
  return `not a ${name}: ${reasons.join("; ")}\n${JSON.stringify(value)}`;
}

function errorsIn(name: string, value: unknown) {
  const definition = schema.$defs[name] ?? { anyOf: [] };
  // One alternative that allows the value is enough; most are for frames of other names.
  const meant = (definition.anyOf ?? []).map(resolved).filter((part) => isMeant(part, value));
  if (meant.some((part) => errorsOf(part, value).length === 0)) return [];
  return errorsOf(definition, value);
}

/** What is wrong, said of each alternative that the value means to be. */
function explanations(definition: Definition, value: unknown) {
  const parts = (definition.anyOf ?? definition.oneOf ?? []).map(resolved);
  return parts
    .flatMap((part) => part.oneOf?.map(resolved) ?? [part])
    .filter((part) => isMeant(part, value))
    .map((part) => errorsOf(part, value, false))
    .filter(({ length }) => length > 0);
}

function errorsOf(definition: Definition, value: unknown, isShort = true) {
  const errorsOf = (given: unknown) =>
    validate(given, definition as Schema, "2020-12", references, isShort).errors;
  try {
    return errorsOf(value);
  } catch (error) {
    // The library makes a URI of each name, which a lone surrogate cannot be part of.
    if (!(error instanceof URIError)) throw error;
    return errorsOf(withWellFormedNames(value));
  }
}

function resolved(part: Definition): Definition {
  return schema.$defs[part.$ref?.replace("#/$defs/", "") ?? ""] ?? part;
}

/** Whether the value has the names that the alternative asks for. */
function isMeant({ properties = {} }: Definition, value: unknown): boolean {
  return ["type", "command", "method", "success"].every((member) => {
    const { const: expected } = properties[member] ?? {};
    return expected === undefined || expected === Reflect.get(Object(value), member);
  });
}

function withWellFormedNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withWellFormedNames);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value);
  return Object.fromEntries(
    members.map(([name, member]) => [
      name.replace(/\p{Surrogate}/gu, "?"),
      withWellFormedNames(member),
    ]),
  );
}
