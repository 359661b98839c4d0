/** The type of a value, for error messages. */
export function typeName(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "string")
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  // A number too large to be represented, such as 1e999, is read as infinite.
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : typeof value;
}
