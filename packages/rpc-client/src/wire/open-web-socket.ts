import type { ConnectionCode } from "../base/errors.ts";
import { deadline, type Wire, type WireOptions } from "./wire.ts";

export interface WebSocketOptions extends WireOptions {
  /** How the token is sent when the WebSocket is opened: pages cannot set headers. */
  readonly credentials:
    | { readonly headers: Record<string, string> }
    | { readonly protocols: string[] };
  /** The headers of a plain request that finds out why the connection failed. */
  readonly headers: Readonly<Record<string, string>>;
}

export function openWebSocket(url: string, options: WebSocketOptions): Promise<Wire> {
  const { promise, resolve, reject } = deadline(url, options.timeoutMs);
  const address = new URL(url);
  if (address.pathname === "/" || address.pathname === "") address.pathname = "/rpc";
  const { credentials, headers } = options;
  // Node accepts headers, which browser types do not include.
  const offered = "protocols" in credentials ? credentials.protocols : credentials;
  const socket = new WebSocket(address, offered as string[]);
  let isOpen = false;
  promise.catch(() => socket.close());
  socket.onopen = () => {
    isOpen = true;
    resolve({
      // Each message is one frame, without its line ending.
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

/** A WebSocket does not say why it could not be opened, but a plain request to the same address does. */
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

/** If a name has several addresses, their errors are combined in one error without a message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
