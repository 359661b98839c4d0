import { createConnection, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A Unix socket in front of a host; cuts each connection after a number of bytes. */
export function cuttingProxy(hostPath: string, path: string, nextBytes: () => number) {
  let cuts = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const host = createConnection(hostPath);
    for (const socket of [client, host]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => open.delete(socket));
    }
    let left = nextBytes();
    const end = (): void => {
      client.destroy();
      host.destroy();
    };
    host.on("data", (chunk) => {
      const piece = chunk.subarray(0, left);
      left -= piece.length;
      client.write(piece, () => {
        if (left > 0) return;
        cuts += 1;
        end();
      });
    });
    client.on("data", (chunk) => void host.write(chunk));
    client.on("close", end);
    host.on("close", end);
  });
  server.listen(path);
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return {
    url: `unix:${path}`,
    get cuts() {
      return cuts;
    },
    /** Cuts all connections now. */
    cut: () => {
      for (const socket of open) socket.destroy();
    },
  };
}
