import { createConnection } from "node:net";
import { LineDecoder } from "@tau-agent/rpc-protocol";

export interface LineSocket {
  /** Sends a line without its line feed. */
  send(line: string): void;
  close(): void;
}

/** Connects to the socket of another host; lines that are sent before it is connected wait. */
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
