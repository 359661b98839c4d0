import type { GetCredentials, GivenCredentials } from "@tau-agent/rpc-protocol";
import { isJsonObject, nearestHint } from "@tau-agent/rpc-protocol/plain";
import { within } from "../base/within.ts";
import type { Answer, HostRequests } from "./host-requests.ts";

/** How long the client may take to answer a request for a key. */
const CREDENTIAL_LIMIT_MS = 30_000;

const members = ["apiKey", "headers", "expiresAt"];

/** Reads the answer to a request for a key. A misspelt member must not be taken for "no key". */
function readCredentials(result: unknown): Answer<GivenCredentials> {
  if (!isJsonObject(result)) {
    return { field: "result", reason: "expected an object with apiKey, headers or expiresAt" };
  }
  const unknown = Object.keys(result).find((name) => !members.includes(name));
  if (unknown !== undefined) {
    return {
      field: `result.${unknown}`,
      reason: `there is no such member${nearestHint(unknown, members)}`,
    };
  }
  const { apiKey, headers, expiresAt } = result;
  if (apiKey !== undefined && (typeof apiKey !== "string" || apiKey.trim() === "")) {
    return { field: "result.apiKey", reason: "expected a text that is not empty" };
  }
  if (headers !== undefined && !areHeaders(headers)) {
    return { field: "result.headers", reason: "expected an object of texts" };
  }
  if (expiresAt !== undefined && !Number.isFinite(expiresAt)) {
    return { field: "result.expiresAt", reason: "expected a time in ms since the epoch" };
  }
  return { result: result as GivenCredentials, outcome: "answered" };
}

function areHeaders(headers: unknown): boolean {
  return (
    isJsonObject(headers) && Object.values(headers).every((value) => typeof value === "string")
  );
}

/** Asks the client of a session for keys. */
export function credentialsOfClient(requests: HostRequests): GetCredentials {
  return async (params) => {
    const { by, result, error } = await requests.ask<GivenCredentials>({
      method: "credential",
      params,
      onTimeout: "cancel",
      timeoutMs: CREDENTIAL_LIMIT_MS,
      unanswered: "cancelled",
      read: readCredentials,
    });
    if (result !== undefined || by === "nobody") return result;
    if (by === "client") throw new Error(error ?? "the client gave no answer");
    throw new Error(by === "timeout" ? unanswered : "the session ended");
  };
}

const unanswered = `there was no answer within ${CREDENTIAL_LIMIT_MS / 1000} s`;

/** Gets keys from an embedder's function. */
export function credentialsOfFunction(get: GetCredentials): GetCredentials {
  return async (params) => {
    const given: unknown = await within(CREDENTIAL_LIMIT_MS, Promise.resolve(get(params)), () => {
      throw new Error(unanswered);
    });
    if (given == null) return undefined;
    const read = readCredentials(given);
    if ("field" in read) throw new Error(`${read.field}: ${read.reason}`);
    return read.result;
  };
}
