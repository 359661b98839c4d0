/** A parsed JSON object. */
export type JsonObject = Record<string, unknown>;

/** Whether `value` is an object and not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
