import { isJsonObject, parseJson } from "@tau-agent/rpc-protocol/plain";

type Schema = Readonly<Record<string, unknown>>;

/**
 * Corrects common mistakes of models to fit the schema: numbers and booleans as strings, JSON text instead of
 * an object or array, a single value instead of a list, `null` or an empty string for an optional field,
 * invented fields. What cannot be corrected is left unchanged for validation to report.
 */
export function coerceArguments(value: unknown, schema: unknown): unknown {
  if (!isJsonObject(schema)) return value;
  const arms = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(arms)) return coerceUnion(value, arms);
  const types = typesOf(schema);
  if (types.length === 0 || types.some((type) => hasType(value, type))) {
    return coerceMembers(value, schema);
  }
  for (const type of types) {
    const converted = convert(value, type);
    if (converted !== undefined) return coerceMembers(converted, schema);
  }
  return value;
}

/** An alternative that already fits wins over one that fits after coercion. */
function coerceUnion(value: unknown, arms: readonly unknown[]): unknown {
  const fits = (candidate: unknown, arm: unknown): boolean =>
    isJsonObject(arm) && typesOf(arm).some((type) => hasType(candidate, type));
  const ofType = arms.filter((arm) => fits(value, arm));
  const exact = ofType.find((arm) => isMeant(value, arm)) ?? ofType[0];
  if (exact !== undefined) return coerceArguments(value, exact);
  for (const arm of arms) {
    const candidate = coerceArguments(value, arm);
    if (fits(candidate, arm)) return candidate;
  }
  return value;
}

/** Whether an object has the members that distinguish one alternative of a union from another. */
function isMeant(value: unknown, arm: unknown): boolean {
  if (!isJsonObject(value) || !isJsonObject(arm)) return true;
  const required = Array.isArray(arm.required) ? arm.required : [];
  if (!required.every((key) => Object.hasOwn(value, key))) return false;
  const properties = isJsonObject(arm.properties) ? arm.properties : {};
  return Object.entries(value).every(([key, member]) => {
    if (!Object.hasOwn(properties, key)) return arm.additionalProperties !== false;
    const schema = properties[key];
    return !isJsonObject(schema) || !("const" in schema) || schema.const === member;
  });
}

function coerceMembers(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) {
    return isJsonObject(schema.items)
      ? value.map((item) => coerceArguments(item, schema.items))
      : value;
  }
  if (!isJsonObject(value) || !isJsonObject(schema.properties)) return value;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const members: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) {
    const memberSchema = Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
    if (memberSchema === undefined) {
      if (schema.additionalProperties !== false) members.push([key, member]);
      continue;
    }
    if (!required.includes(key) && isAbsent(member, memberSchema)) continue;
    members.push([key, coerceArguments(member, memberSchema)]);
  }
  // Not by assignment, which would turn a member named `__proto__` into the prototype.
  return Object.fromEntries(members);
}

function isAbsent(value: unknown, schema: unknown): boolean {
  if (!isJsonObject(schema)) return false;
  if (value === null) return !allowsNull(schema);
  const types = typesOf(schema);
  return value === "" && types.length > 0 && !types.includes("string");
}

function allowsNull(schema: Schema): boolean {
  const arms = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(arms)) return arms.some((arm) => isJsonObject(arm) && allowsNull(arm));
  const types = typesOf(schema);
  return types.length === 0 || types.includes("null");
}

function convert(value: unknown, type: string): unknown {
  if (typeof value === "string") return convertText(value, type);
  if (type === "string" && (typeof value === "number" || typeof value === "boolean")) {
    return String(value);
  }
  if (type === "array" && value !== null && value !== undefined) return [value];
  return undefined;
}

function convertText(text: string, type: string): unknown {
  const trimmed = text.trim();
  if (type === "number" || type === "integer") {
    const number = Number(trimmed);
    const fits = type === "number" ? Number.isFinite(number) : Number.isInteger(number);
    return trimmed !== "" && fits ? number : undefined;
  }
  if (type === "boolean") {
    const lower = trimmed.toLowerCase();
    return lower === "true" ? true : lower === "false" ? false : undefined;
  }
  if (type !== "array" && type !== "object") return undefined;
  const parsed = /^[{[]/.test(trimmed) ? parseJson(trimmed) : undefined;
  if (hasType(parsed, type)) return parsed;
  return type === "array" ? [text] : undefined;
}

function typesOf(schema: Schema): readonly string[] {
  if (typeof schema.type === "string") return [schema.type];
  return Array.isArray(schema.type) ? schema.type.filter((type) => typeof type === "string") : [];
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isJsonObject(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}
