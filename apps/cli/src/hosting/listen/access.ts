import type { IncomingMessage } from "node:http";
import type { ConsoleCodes } from "./console/console-codes.ts";
import type { ConsoleHosts } from "./console/console-hosts.ts";

export interface Access {
  /** Whether pages of this origin may connect. */
  readonly allows: (origin: string, request: IncomingMessage) => boolean;
  readonly isToken: (given: string) => boolean;
  /** The console at this address, if there is one. */
  readonly console?: { readonly codes: ConsoleCodes; readonly hosts: ConsoleHosts } | undefined;
}

/**
 * Whether a request reached the console under a foreign host name, which lets a page of that name read it
 * (DNS rebinding).
 */
export function isMisdirected({ headers }: IncomingMessage, access: Access): boolean {
  return access.console !== undefined && !access.console.hosts.has(headers.host);
}

/** Why a request is refused. */
export interface Refusal {
  readonly status: 401 | 403 | 421;
  readonly reason: string;
}

const PROTOCOL_PREFIX = "tau.bearer.";

/** Why a request is refused; undefined if it is accepted. Checks the page's origin before the token. */
export function refusalOf(
  request: IncomingMessage,
  access: Access,
  { takesQuery }: { readonly takesQuery: boolean },
): Refusal | undefined {
  if (isMisdirected(request, access)) {
    return { status: 421, reason: "This address has no such host; see --console-host" };
  }
  const { origin } = request.headers;
  if (origin !== undefined && !access.allows(origin, request)) {
    return { status: 403, reason: `Origin ${origin} is not allowed; see --allow-origin` };
  }
  const given = tokenOf(request, takesQuery);
  if (given !== undefined && access.isToken(given)) return undefined;
  const reason = given === undefined ? "A bearer token is required" : "The bearer token is wrong";
  return { status: 401, reason };
}

function offeredProtocols({ headers }: IncomingMessage): string[] {
  const { "sec-websocket-protocol": offered = "" } = headers;
  return offered
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** The subprotocol to accept for a WebSocket: one without a token, if the client offers one. */
export function chooseProtocol(offered: Iterable<string>): string | false {
  const names = [...offered];
  return names.find((name) => !name.startsWith(PROTOCOL_PREFIX)) ?? names[0] ?? false;
}

function tokenOf(request: IncomingMessage, takesQuery: boolean): string | undefined {
  const { authorization } = request.headers;
  const [, bearer] = /^Bearer +(\S+) *$/i.exec(authorization ?? "") ?? [];
  if (authorization !== undefined) return bearer ?? "";
  if (request.headers.upgrade !== undefined) {
    const named = offeredProtocols(request).find((name) => name.startsWith(PROTOCOL_PREFIX));
    return named?.slice(PROTOCOL_PREFIX.length);
  }
  if (!takesQuery) return undefined;
  return new URL(request.url ?? "/", "http://host").searchParams.get("access_token") ?? undefined;
}
