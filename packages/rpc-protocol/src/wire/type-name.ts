/** What a value is, for messages. */
export function typeName(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "string")
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  // What is too large to be held, such as 1e999, is read as infinite.
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : typeof value;
}
