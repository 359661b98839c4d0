import { mostNested } from "./json-text.ts";

const loneSurrogate = /\p{Surrogate}/gu;

/** Removes surrogates without a partner, which no vendor's JSON parser accepts. */
export function sanitizeText(text: string): string {
  return isSanitized(text) ? text : text.replace(loneSurrogate, "");
}

/**
 * Whether {@link sanitizeText} would change nothing. Most texts have only one byte for each character, and
 * then nobody looks at them (row "100 000 entries: first request").
 */
export function isSanitized(text: string): boolean {
  return text.isWellFormed();
}

/**
 * Applies {@link sanitizeText} to every string in a JSON value; keys included. What is nested deeper
 * than anything writes or reads is left out.
 */
export function sanitizeJson(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return sanitizeText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= mostNested) return null;
  if (Array.isArray(value)) return value.map((item) => sanitizeJson(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      sanitizeText(key),
      sanitizeJson(member, depth + 1),
    ]),
  );
}
