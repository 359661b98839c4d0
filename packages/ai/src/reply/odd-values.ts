import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { jsonText } from "../request/json-text.ts";

/**
 * Servers send numbers for strings, strings for numbers, and objects for lists. These functions read what can
 * be understood and ignore the rest, because a vendor's types do not guarantee what arrives.
 */

/** A string; numbers and booleans are converted, anything else is empty. */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** An id or a name: a non-blank string, or a number. */
export function asId(value: unknown): string | undefined {
  const text = asText(value);
  return text.trim() === "" ? undefined : text;
}

/** Arguments as JSON text; some servers send the object itself. */
export function asJson(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : jsonText(value);
}

const longestReason = 200;

/** The reason why a reply ended, for a message: a string unchanged, anything else as JSON. */
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

/** A token count; never negative, and also read from a string. */
export function asCount(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? Math.max(0, number) : undefined;
}
