import { isJsonObject, type JsonObject, parseObject } from "@tau-agent/rpc-protocol/plain";

/** The value if it is an object, otherwise an empty object. */
export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value)) : {};
}

/** The value's members as objects; empty if it is not a list. */
export function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

/** The value if it is a string, otherwise an empty string. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** JSON text parsed as an object; an empty object if it is not one. */
export function parseArguments(value: unknown): Record<string, unknown> {
  return parseObject(textOf(value) || "{}") ?? {};
}

export function serverSentEvent(data: string, event?: string): string {
  return event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`;
}
