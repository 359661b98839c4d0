/** Converts a value that should be text to text for a client; extensions may be untyped. */
export function shownText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  try {
    return value instanceof Error ? String(value.message) : String(value);
  } catch {
    // An object that cannot be converted to text.
    return "";
  }
}
