import { type CommandName, commands } from "@tau-agent/rpc-protocol/commands";
import { toJSONSchema } from "zod/v4/core";

/** A command with one invalid field. */
export interface BadCommand {
  readonly title: string;
  /** The field as the error must name it. */
  readonly field: string;
  readonly command: Readonly<Record<string, unknown>>;
}

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** A value of each JSON type except null, which counts as absent. */
const samples: Readonly<Record<string, unknown>> = {
  string: "a wrong text",
  number: 42,
  boolean: true,
  array: [7],
  object: { wrong: 1 },
};

/** Each command × each of its fields × each type that the field does not allow. */
export function badCommands(): BadCommand[] {
  return (Object.keys(commands) as CommandName[]).flatMap((name) => {
    const schema = toJSONSchema(commands[name].params()) as Schema;
    const valid = exampleOf(schema) as Record<string, unknown>;
    const bad = badValues(schema, "").map(({ field, what, change }) => ({
      title: `${name}: ${field} ${what}`,
      field,
      command: { type: name, ...(change(valid) as Record<string, unknown>) },
    }));
    const ids = ["boolean", "array", "object"].map((type) => ({
      title: `${name}: id is ${type}`,
      field: "id",
      command: { type: name, ...valid, id: samples[type] },
    }));
    return [...bad, ...ids];
  });
}

interface BadValue {
  readonly field: string;
  readonly what: string;
  /** Turns a valid value into an invalid one. */
  readonly change: (value: unknown) => unknown;
}

/** Invalid values for the members of an object, including the items of its lists. */
function badValues(schema: Schema, path: string): BadValue[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, given]) => {
    const member = withoutNull(given);
    const field = path === "" ? key : `${path}.${key}`;
    const put = (make: (value: unknown) => unknown) => (value: unknown) => {
      const record = value as Record<string, unknown>;
      return { ...record, [key]: make(record[key] ?? exampleOf(member)) };
    };
    const wrong = wrongTypes(member).map((type) => ({
      field,
      what: `is ${type}`,
      change: put(() => samples[type]),
    }));
    const missing = { field, what: "is missing", change: put(() => undefined) };
    const inside = member.items === undefined ? [] : badItems(member.items, field, put);
    const below = badValues(member, field).map((bad) => ({ ...bad, change: put(bad.change) }));
    const isRequired = schema.required?.includes(key) === true && acceptedTypes(member).size > 0;
    return [...wrong, ...(isRequired ? [missing] : []), ...inside, ...below];
  });
}

/** The schema of a field without null. */
function withoutNull(schema: Schema): Schema {
  const [branch, ...others] = schema.anyOf?.filter(({ type }) => type !== "null") ?? [];
  return branch !== undefined && others.length === 0 ? branch : schema;
}

function badItems(
  items: Schema,
  field: string,
  put: (make: (value: unknown) => unknown) => (value: unknown) => unknown,
): BadValue[] {
  return wrongTypes(items).map((type) => ({
    field: `${field}[0]`,
    what: `is ${type}`,
    change: put(() => [samples[type]]),
  }));
}

/** The types that a field does not allow; for a field with listed strings, another string is invalid too. */
function wrongTypes(schema: Schema): string[] {
  const accepted = acceptedTypes(schema);
  return accepted.size === 0 ? [] : Object.keys(samples).filter((type) => !accepted.has(type));
}

/** The types that a field allows; empty if it accepts anything. */
function acceptedTypes(schema: Schema): Set<string> {
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches) return new Set(branches.flatMap((branch) => [...acceptedTypes(branch)]));
  if (schema.const !== undefined || schema.enum !== undefined) return new Set(["a word"]);
  if (schema.type === "integer") return new Set(["number"]);
  return new Set(schema.type === undefined ? [] : [schema.type]);
}

function exampleOf(schema: Schema): unknown {
  const [branch] = schema.anyOf ?? schema.oneOf ?? [];
  if (branch) return exampleOf(branch);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.type !== "object") return schema.type === "array" ? [] : samples[schema.type ?? ""];
  const required = (schema.required ?? []).map((key) => [
    key,
    exampleOf(schema.properties?.[key] ?? {}),
  ]);
  return Object.fromEntries(required);
}
