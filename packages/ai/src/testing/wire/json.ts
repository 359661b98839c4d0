import { isJsonObject, type JsonObject, parseObject } from "@tau-agent/rpc-protocol/plain";

/** The value as an object; an empty one if it is not an object. */
export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value)) : {};
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
  return parseObject(textOf(value) || "{}") ?? {};
}

export function serverSentEvent(data: string, event?: string): string {
  return event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`;
}
