import { createConnection } from "node:net";
import { LineDecoder } from "@tau-agent/rpc-protocol";

export interface LineSocket {
  /** Sends a line, given without its line feed. */
  send(line: string): void;
  close(): void;
}

/** Connects to the socket of another host; lines sent earlier wait for the connection. */
export function openLineSocket(
  path: string,
  onLine: (line: string) => void,
  onClose: () => void,
): LineSocket {
  const socket = createConnection(path);
  const lines = new LineDecoder();
  socket.on("data", (chunk) => {
    for (const line of lines.push(chunk)) if ("text" in line) onLine(line.text);
  });
  socket.on("error", () => {});
  socket.on("close", onClose);
  return {
    send: (line) => void socket.write(`${line}\n`),
    close: () => void socket.destroy(),
  };
}
