/** What a client can show of what should be text: extensions need not be typed. */
export function shownText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  try {
    return value instanceof Error ? String(value.message) : String(value);
  } catch {
    // An object that will not be a text.
    return "";
  }
}
