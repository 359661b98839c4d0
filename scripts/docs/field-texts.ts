import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { isJsonObject } from "../../packages/rpc-protocol/src/entry/plain.ts";

const sources = new URL("../../packages/rpc-protocol/src/", import.meta.url).href;

/** A doc comment above a member of a schema, or above an object schema in a list. */
const commented =
  /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:(\w+): |z\.(?:loose|strict)?[oO]bject\(\{)/g;

/** The prefix of members that contain the text of another member; alone, the text of the object itself. */
const MARK = "text:";

/**
 * Keeps the doc comments above the members of schemas when the schemas are built. Each becomes an additional
 * member, `text:<name>`, whose only value is the text. It moves along with its member (in a spread, an
 * extension, another dialect's frame), and {@link takeTexts} finds it in the JSON Schema. Must be called
 * before a module of rpc-protocol is imported; the host itself never does this.
 */
export function keepFieldTexts(): void {
  registerHooks({
    load(url, context, nextLoad) {
      if (!url.startsWith(sources)) return nextLoad(url, context);
      const text = readFileSync(new URL(url), "utf8");
      if (!text.includes('import * as z from "zod/mini"')) return nextLoad(url, context);
      return { format: "module-typescript", source: withTexts(text), shortCircuit: true };
    },
  });
}

function withTexts(source: string): string {
  return source.replace(commented, (whole, comment: string, name = "") => {
    const value = JSON.stringify(plainComment(comment));
    const member = `"${MARK}${name}": z.optional(z.literal(${value})), `;
    return name === "" ? whole + member : `${member}${name}: `;
  });
}

export function plainComment(comment: string): string {
  return comment.replace(/\s*\n\s*\*\s?/g, " ").trim();
}

/** Converts these members to the descriptions of the members to which they belong. */
export function takeTexts(schema: unknown): void {
  if (typeof schema !== "object" || schema === null) return;
  for (const member of Object.values(schema)) takeTexts(member);
  const { properties, enum: names } = schema as JsonSchema;
  if (names !== undefined) {
    const own = names.filter((name) => !String(name).startsWith(MARK));
    Object.assign(schema, { enum: own });
  }
  for (const [key, { const: text }] of Object.entries(properties ?? {})) {
    if (properties === undefined || !key.startsWith(MARK)) continue;
    delete properties[key];
    // If a dialect omits a member, its text has nothing to describe.
    const described = key === MARK ? schema : properties[key.slice(MARK.length)];
    if (described !== undefined) Object.assign(described, { description: text });
  }
}

interface JsonSchema {
  readonly properties?: Record<string, { readonly const?: unknown }>;
  readonly enum?: readonly unknown[];
}

/** Throws if a member has no text. */
export function checkTexts(defs: Readonly<Record<string, unknown>>): void {
  const missing = new Set<string>();
  for (const [name, schema] of Object.entries(defs)) addMissing(schema, name, missing);
  if (missing.size > 0) {
    throw new Error(`No doc comment above ${[...missing].join(", ")}, in its schema`);
  }
}

function addMissing(schema: unknown, owner: string, missing: Set<string>): void {
  if (!isJsonObject(schema)) return;
  const { properties, anyOf, oneOf, items, additionalProperties } = schema;
  for (const [name, member] of Object.entries(isJsonObject(properties) ? properties : {})) {
    if (!isJsonObject(member)) continue;
    addMissing(member, name === "data" ? owner : name, missing);
    // A member with only one possible value needs no text.
    if (!("const" in member || "description" in member)) missing.add(`${owner}.${name}`);
  }
  for (const part of [anyOf, oneOf, items, additionalProperties].flat()) {
    addMissing(part, owner, missing);
  }
}
