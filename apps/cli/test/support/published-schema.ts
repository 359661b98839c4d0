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
/** Whether values of a shape are valid, by the name in the schema. */
const verdicts = new Map<string, Map<string, boolean>>();

/** The number of different shapes that were checked against the schema. */
export function countShapes(): number {
  return [...verdicts.values()].reduce((count, { size }) => count + size, 0);
}

/** The shape of a value: everything that the published schema checks about it. */
export function schemaShape(value: unknown): string {
  return shapes.shapeOf(value);
}

/** Whether a value is valid for `name` of the published schema. */
export function isAllowed(name: string, value: unknown): boolean {
  const known = verdicts.get(name) ?? new Map<string, boolean>();
  verdicts.set(name, known);
  const shape = schemaShape(value);
  const verdict = known.get(shape) ?? errorsIn(name, value).length === 0;
  known.set(shape, verdict);
  return verdict;
}

/** Why a value is not valid for `name` of the published schema; undefined if it is. */
export function schemaViolation(name: string, value: unknown): string | undefined {
  return isAllowed(name, value) ? undefined : findViolation(name, value);
}

/** Like {@link schemaViolation}, but validates each value with the schema itself. */
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
  // One matching alternative is enough; most alternatives are for frames with other names.
  const meant = (definition.anyOf ?? []).map(resolved).filter((part) => isMeant(part, value));
  if (meant.some((part) => errorsOf(part, value).length === 0)) return [];
  return errorsOf(definition, value);
}

/** The errors for each alternative that the value is meant to match. */
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
    // The library makes a URI of each name, which fails for a lone surrogate.
    if (!(error instanceof URIError)) throw error;
    return errorsOf(withWellFormedNames(value));
  }
}

function resolved(part: Definition): Definition {
  return schema.$defs[part.$ref?.replace("#/$defs/", "") ?? ""] ?? part;
}

/** Whether the value has the type and command that the alternative requires. */
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
