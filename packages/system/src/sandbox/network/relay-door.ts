import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { WorkspaceConnection } from "@tau-agent/rpc-protocol/workspace";
import { trusting } from "./certificates.ts";
import type { SandboxNetworkDoor } from "./network-door.ts";
import { doorTo } from "./open-door.ts";

export interface Relay {
  /** Passes a command's connection on to the proxy. */
  readonly onConnection: (client: WorkspaceConnection) => WorkspaceConnection;
  /** An additional certificate for commands to trust. */
  readonly certificate?: string | undefined;
}

/** A door whose proxy is at the other end of a connection; traffic is relayed unchanged. */
export async function openRelayDoor(
  folder: string,
  { onConnection, certificate }: Relay,
): Promise<SandboxNetworkDoor> {
  const path = join(folder, "proxy.sock");
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    relay(socket, onConnection);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  server.unref();
  const door = doorTo(path, async () => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return certificate === undefined ? door : trusting(door, folder, certificate);
}

/** Relays between a command's socket and the other end. */
export function relay(socket: Socket, onConnection: Relay["onConnection"]): void {
  const far = onConnection({
    write: (bytes) => new Promise((resolve) => socket.write(bytes, () => resolve())),
    end: () => void socket.end(),
    close: () => void socket.destroy(),
  });
  const pass = async (): Promise<void> => {
    for await (const bytes of socket as AsyncIterable<Buffer>) await far.write(bytes);
    far.end();
  };
  // Errors of a command's socket must not stop this process.
  socket.on("error", () => socket.destroy());
  socket.once("close", () => far.close());
  pass().catch(() => {});
}
