import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { jsonText } from "../request/json-text.ts";

/**
 * Servers send numbers for texts, texts for numbers, and objects where a list belongs. These read what
 * can be understood and pass over the rest; a vendor's types say nothing about what arrives.
 */

/** A text; numbers and truth values as written, nothing else. */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** An id or a name: a text that is not blank, or a number. */
export function asId(value: unknown): string | undefined {
  const text = asText(value);
  return text.trim() === "" ? undefined : text;
}

/** Arguments as a piece of JSON; some servers send the object itself. */
export function asJson(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : jsonText(value);
}

const longestReason = 200;

/** Why a reply ended, for a message: a text as it is, anything else as JSON. */
export function asReason(value: unknown): string | undefined {
  const text = asJson(value);
  return text === "" ? undefined : text.slice(0, longestReason);
}

export function asList<Item extends object>(
  value: readonly (Item | null)[] | undefined | null,
): Item[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.filter((item): item is Item => typeof item === "object" && item !== null);
}

export function asObject<Value extends object>(value: Value | undefined | null): Partial<Value> {
  return isJsonObject(value) ? value : {};
}

/** A number of tokens: never negative, also out of a text. */
export function asCount(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? Math.max(0, number) : undefined;
}
