import { lstatSync } from "node:fs";
import { createConnection } from "node:net";
import { LineDecoder } from "@tau-agent/rpc-protocol";
import { ConnectionClosedError, type ConnectionCode } from "../base/errors.ts";

export interface Wire {
  /** Sends a line, which ends in a line feed. */
  write(line: string): void;
  close(): void;
}

export interface WireOptions {
  readonly token: string | undefined;
  readonly timeoutMs: number;
  readonly onLine: (line: string) => void;
  /** Called once, when an open wire is gone. */
  readonly onClose: (reason: string) => void;
}

/**
 * Connects to `unix:<path>`, `ws://…` or `wss://…`.
 *
 * @throws {ConnectionClosedError}
 */
export function openWire(url: string, options: WireOptions): Promise<Wire> {
  if (url.startsWith("unix:")) return openSocket(url.slice("unix:".length), options);
  return openWebSocket(url, options);
}

function openSocket(path: string, options: WireOptions): Promise<Wire> {
  const { promise, resolve, reject } = deadline(`unix:${path}`, options.timeoutMs);
  const user = process.getuid?.();
  const owner = lstatSync(path, { throwIfNoEntry: false })?.uid;
  // Its owner would read everything: keys, prompts and files.
  if (user !== undefined && owner !== undefined && owner !== user) {
    reject("refused", "the socket belongs to another user");
    return promise;
  }
  const socket = createConnection(path);
  const lines = new LineDecoder();
  let reason = "the host closed the connection";
  let isOpen = false;
  promise.catch(() => socket.destroy());
  socket.on("connect", () => {
    isOpen = true;
    resolve({ write: (line) => void socket.write(line), close: () => void socket.destroy() });
  });
  socket.on("data", (chunk) => {
    for (const line of lines.push(chunk)) if ("text" in line) options.onLine(line.text);
  });
  socket.on("error", (error) => {
    reason = error.message;
  });
  socket.on("close", () => {
    if (isOpen) options.onClose(reason);
    else reject("unreachable", reason);
  });
  return promise;
}

function openWebSocket(url: string, options: WireOptions): Promise<Wire> {
  const { promise, resolve, reject } = deadline(url, options.timeoutMs);
  const address = new URL(url);
  if (address.pathname === "/" || address.pathname === "") address.pathname = "/rpc";
  const headers = options.token === undefined ? {} : { Authorization: `Bearer ${options.token}` };
  // Node takes headers, which types of browsers do not know.
  const socket = new WebSocket(address, { headers } as unknown as string[]);
  let isOpen = false;
  promise.catch(() => socket.close());
  socket.onopen = () => {
    isOpen = true;
    resolve({
      // Each message is one frame, without the end of its line.
      write: (line) => socket.send(line.trimEnd()),
      close: () => socket.close(),
    });
  };
  socket.onmessage = ({ data }) => options.onLine(String(data));
  socket.onerror = () => {};
  socket.onclose = ({ code, reason }) => {
    if (isOpen) options.onClose(reason || `closed with ${code}`);
    else void whyRefused(address, headers).then(([kind, text]) => reject(kind, text));
  };
  return promise;
}

/** A WebSocket does not say why it was not opened; a plain request to the same address does. */
async function whyRefused(
  address: URL,
  headers: Readonly<Record<string, string>>,
): Promise<[ConnectionCode, string]> {
  const plain = new URL(address);
  plain.protocol = address.protocol === "wss:" ? "https:" : "http:";
  try {
    const { status, body } = await fetch(plain, { headers, redirect: "manual" });
    await body?.cancel();
    if (status === 401) return ["unauthorized", "the host does not take this token (HTTP 401)"];
    return ["refused", `what answers there takes no such connection (HTTP ${status})`];
  } catch (error) {
    const { cause } = Object(error) as { cause?: unknown };
    return ["unreachable", reasonOf(cause ?? error)];
  }
}

/** The errors of several addresses of one name come as one without a text. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

/** A connection that has to be there in time. */
function deadline(url: string, timeoutMs: number) {
  const { promise, resolve, reject } = Promise.withResolvers<Wire>();
  const fail = (code: ConnectionCode, reason: string): void => {
    clearTimeout(timer);
    const text = `Could not connect to ${url}: ${reason}`;
    reject(new ConnectionClosedError(text, {}, { code }));
  };
  const late = () => fail("connect_timeout", `no connection within ${timeoutMs} ms`);
  const timer = timeoutMs > 0 ? setTimeout(late, timeoutMs) : undefined;
  const succeed = (wire: Wire): void => {
    clearTimeout(timer);
    resolve(wire);
  };
  return { promise, resolve: succeed, reject: fail };
}
