const loneSurrogate = /\p{Surrogate}/gu;

/** Removes surrogates without a partner, which no vendor's JSON parser accepts. */
export function sanitizeText(text: string): string {
  return text.replace(loneSurrogate, "");
}

/** Applies {@link sanitizeText} to every string in a JSON value; keys included. */
export function sanitizeJson(value: unknown): unknown {
  if (typeof value === "string") return sanitizeText(value);
  if (Array.isArray(value)) return value.map(sanitizeJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [sanitizeText(key), sanitizeJson(member)]),
  );
}
