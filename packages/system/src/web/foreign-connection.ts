import { lookup } from "node:dns/promises";
import { request as httpRequest } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { unlessAborted } from "../base/unless-aborted.ts";
import { allowsHost } from "../sandbox/policy/domain-list.ts";
import { ForeignError } from "./foreign-error.ts";
import { hostOf } from "./host-of.ts";

/** How long to wait for an address before the next address of the same name is tried. */
const dialMs = 5_000;

/** Decides which addresses the host may fetch. */
export interface ForeignAccess {
  /** Names that may have any address and may be reached through the proxy. */
  readonly allow: () => readonly string[];
  /** The proxy for an address; undefined for none. */
  readonly proxyFor?: ((target: URL) => URL | undefined) | undefined;
  readonly addresses?: { has(address: string): boolean } | undefined;
  readonly resolve?: ((host: string) => Promise<readonly string[]>) | undefined;
  /** Opens a connection to an address, without looking it up. */
  readonly dial?: ((address: string, port: number) => Socket) | undefined;
}

/** The access of one fetch; everything ends with its signal. */
export interface Way extends ForeignAccess {
  readonly addresses: { has(address: string): boolean };
  readonly signal: AbortSignal;
}

/** A connection over which the request can be sent. */
export async function openConnection(target: URL, way: Way): Promise<Socket> {
  const port = Number(target.port || (target.protocol === "https:" ? 443 : 80));
  const isAllowed = allowsHost(way.allow(), target.hostname);
  const proxy = way.proxyFor?.(target);
  const plain =
    proxy === undefined
      ? await reach(await judged(target, isAllowed, way), port, way)
      : await throughProxy(proxy, { target, port, isAllowed }, way);
  return target.protocol === "https:" ? secured(plain, hostOf(target), way) : plain;
}

/** The addresses of a target, if the host may connect to them; not looked up again later. */
async function judged(target: URL, isAllowed: boolean, way: Way): Promise<readonly string[]> {
  const host = hostOf(target);
  const resolve = way.resolve ?? resolveName;
  const found = isIP(host) === 0 ? await unlessAborted(resolve(host), way.signal) : [host];
  const closed = isAllowed ? undefined : found.find((address) => !way.addresses.has(address));
  if (closed !== undefined) {
    const place = closed === host ? host : `${host} is at ${closed}, which`;
    const reason = `${place} is not an address on the public internet; the setting web.allow names hosts that are fetched anyway`;
    throw new ForeignError(reason, { isRefused: true });
  }
  if (found.length === 0) throw new ForeignError(`${host} has no address`);
  return found;
}

async function resolveName(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** Connects to the first address that answers. */
async function reach(addresses: readonly string[], port: number, way: Way): Promise<Socket> {
  const dial = way.dial ?? ((host, at) => connect({ host, port: at }));
  let problem: unknown;
  for (const [at, address] of addresses.entries()) {
    const socket = dial(address, port);
    const isLast = at === addresses.length - 1;
    try {
      return await ready(socket, "connect", way, isLast ? undefined : dialMs);
    } catch (error) {
      way.signal.throwIfAborted();
      problem = error;
    }
  }
  throw problem;
}

/** The proxy resolves names itself, so only names that may have any address go through it. */
async function throughProxy(
  proxy: URL,
  { target, port, isAllowed }: { target: URL; port: number; isAllowed: boolean },
  way: Way,
): Promise<Socket> {
  if (!isAllowed) {
    const reason = `${target.hostname} would be reached through the proxy ${proxy.host}, where its address cannot be checked; the setting web.allow names hosts that are fetched through it`;
    throw new ForeignError(reason, { isRefused: true });
  }
  const at = Number(proxy.port || (proxy.protocol === "https:" ? 443 : 80));
  const dial = way.dial ?? ((host, number) => connect({ host, port: number }));
  const plain = await ready(dial(hostOf(proxy), at), "connect", way);
  const socket = proxy.protocol === "https:" ? await secured(plain, hostOf(proxy), way) : plain;
  const path = `${target.hostname}:${port}`;
  const login = [proxy.username, proxy.password].map(decodeURIComponent).join(":");
  const basic = `Basic ${Buffer.from(login).toString("base64")}`;
  const headers = { host: path, ...(login === ":" ? {} : { "proxy-authorization": basic }) };
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const options = { method: "CONNECT", path, headers, setHost: false };
  const asked = httpRequest({ ...options, createConnection: () => socket });
  asked.once("connect", ({ statusCode }, tunnel: Socket) => {
    if (statusCode === 200) resolve(tunnel);
    else reject(new ForeignError(`the proxy ${proxy.host} answers HTTP ${statusCode}`));
  });
  asked.once("response", ({ statusCode }) =>
    reject(new ForeignError(`the proxy ${proxy.host} answers HTTP ${statusCode}`)),
  );
  asked.once("error", reject).end();
  return unlessAborted(promise, way.signal);
}

function secured(socket: Socket, host: string, way: Way): Promise<TLSSocket> {
  const servername = isIP(host) === 0 ? host : undefined;
  const secure = connectTls({ socket, host, ...(servername !== undefined && { servername }) });
  return ready(secure, "secureConnect", way);
}

/** Waits until a connection is open, or the signal is aborted. */
async function ready<Connection extends Socket>(
  socket: Connection,
  event: "connect" | "secureConnect",
  { signal }: Way,
  limitMs?: number,
): Promise<Connection> {
  const end = (): void => void socket.destroy();
  signal.addEventListener("abort", end, { once: true });
  socket.once("close", () => signal.removeEventListener("abort", end));
  // Once the connection is open, the code that uses it handles errors.
  socket.on("error", () => {});
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer =
    limitMs === undefined
      ? undefined
      : setTimeout(() => reject(new Error("it does not answer")), limitMs);
  socket.once(event, resolve).once("error", reject);
  socket.once("close", () => reject(new Error("the connection was closed")));
  try {
    await unlessAborted(promise, signal);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
