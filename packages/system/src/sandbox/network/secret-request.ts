import type { IncomingMessage } from "node:http";
import { pathMatcher } from "../../base/files/rule-glob.ts";
import { hopHeaders } from "./hop-headers.ts";
import type { HeldSecret, SessionSecrets } from "./session-secrets.ts";

/** The host that the client believes it is connected to. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Why a request is not forwarded. */
export interface Refusal {
  readonly status: number;
  readonly text: string;
}

/** How often a path is decoded: servers may decode more than once. */
const MAX_DECODINGS = 5;

/** Why a request is refused before its secrets are considered. */
export function refusalOf(request: IncomingMessage, target: Target): Refusal | undefined {
  const hosts = valuesOf(request, "host");
  const names = [target.host, `[${target.host}]`].flatMap((name) => [
    `${name}:${target.port}`,
    ...(target.port === 443 ? [name] : []),
  ]);
  const isSame = hosts.length === 1 && names.includes(String(hosts[0]).toLowerCase());
  if (!isSame || !/^(?:\/|\*$)/.test(request.url ?? "")) {
    const text = `This connection is to ${target.host}, and the request is for another host.`;
    return { status: 421, text };
  }
  if (request.headers.upgrade !== undefined || request.method === "CONNECT") {
    return { status: 501, text: "The sandbox's proxy passes on no WebSocket and no HTTP/2 here." };
  }
  return undefined;
}

/** The secrets of a host that apply to the method and path of this request. */
export function fittingSecrets(
  { method = "", url = "" }: IncomingMessage,
  secrets: readonly HeldSecret[],
): readonly HeldSecret[] {
  return secrets.filter(({ methods, paths }) => {
    if (methods?.some((each) => each.toUpperCase() === method) === false) return false;
    return paths === undefined || allSpellings(url).every((path) => fitsPath(path, paths));
  });
}

function fitsPath(path: string | undefined, globs: readonly string[]): boolean {
  return path !== undefined && globs.some((glob) => pathMatcher("", glob)(path));
}

/**
 * All readings of a path that servers may use, decoded once or more; undefined for a path that no server should get.
 */
function allSpellings(url: string): readonly (string | undefined)[] {
  let path = url.replace(/[?#].*$/s, "");
  const found: (string | undefined)[] = [];
  for (let count = 0; count < MAX_DECODINGS; count += 1) {
    let decoded: string;
    try {
      decoded = decodeURIComponent(path);
    } catch {
      return [...found, undefined];
    }
    found.push(normalised(decoded), normalised(decoded.replace(/;[^/]*/g, "")));
    if (decoded === path) return found;
    path = decoded;
  }
  return [...found, undefined];
}

/** Without `.`, `..` and doubled slashes; undefined if it contains something that servers treat differently. */
function normalised(path: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\\\x00-\x1f\x7f]/.test(path)) return undefined;
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  const isFolder = /\/\.{0,2}$/.test(path) && parts.length > 0;
  return `/${parts.join("/")}${isFolder ? "/" : ""}`;
}

/** The headers to send: values instead of placeholders, without the headers for this hop. */
export async function headersWith(
  request: IncomingMessage,
  held: readonly HeldSecret[],
  secrets: SessionSecrets,
): Promise<Record<string, string | string[]>> {
  const named = new Set(
    (request.headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase()),
  );
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || hopHeaders.has(name) || named.has(name) || dropped.has(name))
      continue;
    headers[name] = value;
  }
  for (const secret of held) {
    for (const [name, value] of Object.entries(headers)) {
      const list = [value].flat();
      const filled = await Promise.all(list.map((each) => filledIn(each, secret, secrets)));
      headers[name] = filled.length === 1 ? String(filled[0]) : filled;
    }
    await setWhereMissing(headers, secret, secrets);
  }
  return { ...headers, "accept-encoding": "identity" };
}

/**
 * Ranges would let a client fetch a value in parts, none of which would be recognised. `Expect` is for this hop only.
 */
const dropped: ReadonlySet<string> = new Set(["range", "if-range", "expect", "accept-encoding"]);

async function filledIn(
  value: string,
  secret: HeldSecret,
  secrets: SessionSecrets,
): Promise<string> {
  const { placeholder } = secret;
  if (value.includes(placeholder)) {
    return value.replaceAll(placeholder, await secrets.valueOf(secret));
  }
  const [, scheme, encoded = ""] = /^(basic +)([\w+/=-]+)$/i.exec(value) ?? [];
  const plain = Buffer.from(encoded, "base64").toString("latin1");
  if (scheme === undefined || !plain.includes(placeholder)) return value;
  const filled = plain.replaceAll(placeholder, await secrets.valueOf(secret));
  return `${scheme}${hiddenBase64(filled, plain, secrets)}`;
}

async function setWhereMissing(
  headers: Record<string, string | string[]>,
  secret: HeldSecret,
  secrets: SessionSecrets,
): Promise<void> {
  const { as, placeholder } = secret;
  if (as === undefined) return;
  const name = as.startsWith("header:")
    ? as.slice("header:".length).toLowerCase()
    : "authorization";
  if (headers[name] !== undefined) return;
  const value = await secrets.valueOf(secret);
  if (as === "bearer") headers[name] = `Bearer ${value}`;
  else if (as === "basic") headers[name] = `Basic ${hiddenBase64(value, placeholder, secrets)}`;
  else headers[name] = value;
}

/** Hides the encoded header, too: an answer that echoes it would reveal the value. */
function hiddenBase64(filled: string, plain: string, secrets: SessionSecrets): string {
  const encoded = Buffer.from(filled, "latin1").toString("base64");
  secrets.hide(encoded, Buffer.from(plain, "latin1").toString("base64"));
  return encoded;
}

function valuesOf({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
}
