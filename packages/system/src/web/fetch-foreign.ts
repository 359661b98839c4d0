import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { boundedBytes } from "../base/bounded-bytes.ts";
import type { FetchForeign, ForeignReply, ForeignRequest } from "../base/foreign-request.ts";
import { unlessAborted } from "../base/unless-aborted.ts";
import { type ForeignAccess, openConnection, type Way } from "./foreign-connection.ts";
import { ForeignError } from "./foreign-error.ts";
import { PublicAddresses } from "./public-address.ts";

const maxRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Makes a fetch for addresses that a model or a client chose. A name is resolved once, each of its addresses has
 * to be public, and the connection goes to one of these. Redirects are checked like the first address. It sends
 * no cookies and no keys.
 */
export function createFetchForeign(access: ForeignAccess): FetchForeign {
  let addresses = access.addresses;
  return async (request) => {
    addresses ??= new PublicAddresses();
    const ending = new AbortController();
    const late = setTimeout(
      () => ending.abort(new ForeignError(`it took longer than ${request.timeoutMs / 1000} s`)),
      request.timeoutMs,
    );
    const signal = AbortSignal.any([ending.signal, ...(request.signal ? [request.signal] : [])]);
    try {
      return await follow(request, { ...access, addresses, signal });
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof ForeignError
        ? error
        : new ForeignError(errorMessage(error), { cause: error });
    } finally {
      clearTimeout(late);
      // Ends everything that is still open.
      ending.abort();
    }
  };
}

async function follow(request: ForeignRequest, way: Way): Promise<ForeignReply> {
  let target = targetOf(request.url, undefined, request);
  for (let count = 0; count <= maxRedirects; count++) {
    const refusal = await request.refusalOf?.(target);
    if (refusal !== undefined) throw new ForeignError(refusal, { isRefused: true });
    const response = await send(target, request, way);
    const { statusCode: status = 0, headers } = response;
    if (!redirects.has(status) || headers.location === undefined) {
      const body = await readBody(response, request, way);
      return { url: target.href, status, contentType: headers["content-type"] ?? "", body };
    }
    response.destroy();
    target = targetOf(headers.location, target, request);
  }
  throw new ForeignError("it redirects too many times");
}

function targetOf(written: string, base: URL | undefined, { schemes }: ForeignRequest): URL {
  const refuse = (reason: string) => new ForeignError(reason, { isRefused: true });
  if (!URL.canParse(written, base?.href)) throw refuse(`${written} is not an address`);
  const target = new URL(written, base);
  const names = schemes.map((scheme) => `${scheme}//`).join(" or ");
  if (!schemes.includes(target.protocol))
    throw refuse(`${target.href} does not begin with ${names}`);
  if (target.username !== "" || target.password !== "") {
    throw refuse(`${target.host} is given with a user name or password; leave it out`);
  }
  target.hash = "";
  return target;
}

async function send(target: URL, { accept }: ForeignRequest, way: Way): Promise<IncomingMessage> {
  const socket = await openConnection(target, way);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = {
    ...{ host: target.host, accept, "accept-encoding": "gzip, br", connection: "close" },
    "user-agent": "Mozilla/5.0 (compatible; tau)",
  };
  const path = target.pathname + target.search;
  // Without an agent, the request uses neither a proxy from the process's environment nor a kept connection.
  const sent = httpRequest({ createConnection: () => socket, setHost: false, path, headers });
  sent.once("response", resolve).once("error", reject).end();
  return unlessAborted(promise, way.signal);
}

async function readBody(
  response: IncomingMessage,
  { maxBytes }: ForeignRequest,
  { signal }: Way,
): Promise<Buffer> {
  const tooLarge = () => new ForeignError(`it is larger than ${maxBytes / 1024 / 1024} MiB`);
  if (Number(response.headers["content-length"] ?? 0) > maxBytes) throw tooLarge();
  return unlessAborted(boundedBytes(decoded(response), maxBytes, tooLarge), signal);
}

function decoded(response: IncomingMessage): Readable {
  const encoding = (response.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (encoding === "identity" || encoding === "") return response;
  const decoders = { gzip: createGunzip, "x-gzip": createGunzip, br: createBrotliDecompress };
  if (!Object.hasOwn(decoders, encoding)) {
    throw new ForeignError(`its content encoding ${encoding} was not asked for`);
  }
  const decoder = decoders[encoding as keyof typeof decoders]();
  response.once("error", (error) => decoder.destroy(error));
  response.once("aborted", () => decoder.destroy(new Error("the connection was closed")));
  return response.pipe(decoder);
}
