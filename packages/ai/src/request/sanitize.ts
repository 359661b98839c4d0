import { mostNested } from "./json-text.ts";

const loneSurrogate = /\p{Surrogate}/gu;

/** Removes lone surrogates, which no vendor's JSON parser accepts. */
export function sanitizeText(text: string): string {
  return isSanitized(text) ? text : text.replace(loneSurrogate, "");
}

/**
 * Whether {@link sanitizeText} would change nothing. Most texts are stored with one byte per character and
 * are not scanned (row "100 000 entries: first request").
 */
export function isSanitized(text: string): boolean {
  return text.isWellFormed();
}

/**
 * Applies {@link sanitizeText} to every string in a JSON value, including keys. Drops values that are nested
 * too deeply to be read or written.
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
