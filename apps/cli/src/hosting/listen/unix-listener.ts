import { chmodSync, unlinkSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { errorMessage, LineDecoder, ProtocolError } from "@tau-agent/rpc-protocol";
import { BoundedWriter, unreadLimits } from "../clients/bounded-writer.ts";
import { Client } from "../clients/client.ts";
import type { ClientSetup } from "../clients/client-options.ts";
import { pushLines } from "../clients/push-lines.ts";
import type { Listener } from "./listener.ts";
import { checkSocketFolder, findDeadSocket } from "./socket-folder.ts";

/** Only the user may connect. */
const SOCKET_MASK = 0o177;

/**
 * Listens on a Unix socket: JSON lines, without a token, because only the user can connect.
 *
 * @throws {ProtocolError} `invalid_option`
 */
export async function listenOnSocket(path: string, setup: ClientSetup): Promise<Listener> {
  checkSocketFolder(path);
  if (await findDeadSocket(path)) unlinkSync(path);
  const connections = new Set<{ readonly end: () => Promise<void> }>();
  // A client that closes only its sending side still receives its answers.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const connection = serveSocket(socket, setup, () => connections.delete(connection));
    connections.add(connection);
  });
  await bind(server, path);
  return {
    url: `unix:${path}`,
    stop: () => void server.close(),
    end: async () => {
      await Promise.all([...connections].map((connection) => connection.end()));
    },
  };
}

async function bind(server: Server, path: string): Promise<void> {
  const bound = new Promise<void>((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", (error) => {
      const values = { option: `--listen unix:${path}`, reason: errorMessage(error) };
      reject(new ProtocolError("invalid_option", values, { cause: error }));
    });
  });
  const mask = process.umask(SOCKET_MASK);
  try {
    // Binds synchronously.
    server.listen(path);
  } finally {
    process.umask(mask);
  }
  await bound;
  chmodSync(path, 0o600);
}

function serveSocket(
  socket: Socket,
  setup: ClientSetup,
  onClose: () => void,
): { readonly end: () => Promise<void> } {
  const output = {
    write: (text: string, onWritten: () => void) => void socket.write(text, () => onWritten()),
  };
  const writer = new BoundedWriter(output, unreadLimits, () => socket.destroy());
  const client = new Client({ ...setup, writer });
  const decoder = new LineDecoder();
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  socket.on("data", (chunk) => {
    pushLines(client, decoder.push(chunk));
    writer.flush();
  });
  socket.on("end", () => {
    pushLines(client, decoder.end());
    void end();
  });
  socket.on("error", () => socket.destroy());
  socket.on("close", () => {
    writer.close();
    client.close();
    onClose();
    resolve();
  });
  const end = async () => {
    await client.settled();
    await writer.end();
    socket.end();
    await closed;
  };
  return { end };
}
