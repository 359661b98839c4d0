/** An object of a request body; members of another type read as missing. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value as an object; an empty one if it is not an object. */
export function objectOf(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
}

/** The value's members as objects; empty if it is not a list. */
export function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

/** The value as a string; empty if it is not a string. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** JSON text as an object; an empty one if it is not an object. */
export function parseArguments(value: unknown): Record<string, unknown> {
  try {
    return { ...objectOf(JSON.parse(textOf(value) || "{}")) };
  } catch {
    return {};
  }
}

/** One server-sent event. */
export function serverSentEvent(data: string, event?: string): string {
  return event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`;
}
