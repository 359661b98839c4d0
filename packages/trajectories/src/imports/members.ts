import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";

// A transcript may hold anything: these read members of what was expected.

export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A number of tokens. */
export function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;
}

export function timeOf(value: unknown): number | undefined {
  const timeMs = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

/** An image of a data URL; undefined for any other text. */
export function imageOf(url: string | undefined) {
  const [, mimeType, data] =
    /^data:(image\/[\w.+-]+);base64,([A-Za-z\d+/=]*)$/.exec(url ?? "") ?? [];
  return mimeType === undefined || data === undefined
    ? undefined
    : { type: "image" as const, data, mimeType };
}
