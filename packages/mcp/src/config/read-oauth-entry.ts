import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import { EntryProblem, textOf, wordOf } from "./read-members.ts";
import type { OAuthEntry } from "./server-entry.ts";

const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

export function readOAuthEntry(value: JsonObject): OAuthEntry {
  const members = {
    clientId: textOf(value, "clientId"),
    clientSecret: textOf(value, "clientSecret"),
    clientName: textOf(value, "clientName"),
    clientMetadataUrl: textOf(value, "clientMetadataUrl"),
    clientRegistration: wordOf(value, "clientRegistration", ["auto", "dcr", "cimd"]),
    callbackPort: portOf(value),
    callbackUrl: textOf(value, "callbackUrl"),
    scope: textOf(value, "scope"),
    authServerMetadataUrl: textOf(value, "authServerMetadataUrl"),
  };
  const { callbackUrl, clientMetadataUrl, authServerMetadataUrl } = members;
  if (callbackUrl !== undefined && !isLoopback(callbackUrl, "http:")) {
    throw new EntryProblem("oauth.callbackUrl must be http on localhost, 127.0.0.1 or [::1]");
  }
  if (clientMetadataUrl !== undefined && !isSecure(clientMetadataUrl)) {
    throw new EntryProblem("oauth.clientMetadataUrl must be an https address");
  }
  if (authServerMetadataUrl !== undefined && !isSafeAddress(authServerMetadataUrl)) {
    throw new EntryProblem("oauth.authServerMetadataUrl must be https, or http on loopback");
  }
  if (members.clientRegistration === "cimd" && clientMetadataUrl === undefined) {
    throw new EntryProblem("oauth.clientRegistration cimd needs oauth.clientMetadataUrl");
  }
  return members;
}

/** Whether an address may be opened for a user: `https:`, or `http:` on this machine. */
export function isSafeAddress(url: string): boolean {
  return isSecure(url) || isLoopback(url, "http:");
}

function isSecure(url: string): boolean {
  return URL.canParse(url) && new URL(url).protocol === "https:";
}

function isLoopback(url: string, protocol: string): boolean {
  if (!URL.canParse(url)) return false;
  const parsed = new URL(url);
  return parsed.protocol === protocol && loopbackHosts.has(parsed.hostname);
}

function portOf({ callbackPort }: JsonObject): number | undefined {
  if (callbackPort === undefined) return undefined;
  const isPort = Number.isInteger(callbackPort) && Number(callbackPort) > 0;
  if (isPort && Number(callbackPort) < 65_536) return Number(callbackPort);
  throw new EntryProblem("oauth.callbackPort must be a port");
}
