import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";

// A transcript may contain anything: these functions read expected members, whatever is there.

export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A token count. */
export function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;
}

export function timeOf(value: unknown): number | undefined {
  const timeMs = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

/** The image in a data URL; undefined for any other text. */
export function imageOf(url: string | undefined) {
  const [, mimeType, data] =
    /^data:(image\/[\w.+-]+);base64,([A-Za-z\d+/=]*)$/.exec(url ?? "") ?? [];
  return mimeType === undefined || data === undefined
    ? undefined
    : { type: "image" as const, data, mimeType };
}
