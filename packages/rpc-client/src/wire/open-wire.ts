import { lstatSync } from "node:fs";
import { createConnection } from "node:net";
import { LineDecoder } from "@tau-agent/rpc-protocol";
import { openWebSocket } from "./open-web-socket.ts";
import { deadline, type OpenWire, type Wire, type WireOptions } from "./wire.ts";

/** Connects to `unix:<path>`, `ws://…` or `wss://…`. */
export function wireTo(url: string, token: string | undefined): OpenWire {
  if (url.startsWith("unix:")) return (options) => openSocket(url.slice("unix:".length), options);
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return (options) => openWebSocket(url, { ...options, credentials: { headers }, headers });
}

function openSocket(path: string, options: WireOptions): Promise<Wire> {
  const { promise, resolve, reject } = deadline(`unix:${path}`, options.timeoutMs);
  const user = process.getuid?.();
  const owner = lstatSync(path, { throwIfNoEntry: false })?.uid;
  // The owner of the socket could read everything: keys, prompts and files.
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
