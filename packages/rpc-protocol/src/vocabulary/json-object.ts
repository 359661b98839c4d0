/** A parsed JSON object. */
export type JsonObject = Record<string, unknown>;

/** The parsed value of a JSON text; `otherwise` if the text is not JSON. */
export function parseJson(text: string, otherwise?: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/** The object in a JSON text; undefined if the text is anything else. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isJsonObject(value) ? value : undefined;
}

/** Whether `value` is an object and not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
