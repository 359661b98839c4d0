import type { RawData, WebSocket } from "ws";
import { BoundedWriter, unreadLimits } from "../clients/bounded-writer.ts";
import { Client } from "../clients/client.ts";
import type { ClientSetup } from "../clients/client-options.ts";
import type { OpenConnection } from "./port-parts.ts";

const GOING_AWAY = 1001;
const UNSUPPORTED_DATA = 1003;
const TRY_AGAIN_LATER = 1013;
/** A client that does not close in time is disconnected. */
const CLOSE_MS = 1_000;
/** After so many missed pings, the client counts as gone. */
const MAX_MISSED = 2;

/** Serves a client that sends one frame per text message. */
export function serveWebSocket(
  socket: WebSocket,
  { setup, pingMs }: { readonly setup: ClientSetup; readonly pingMs: number },
  onClose: () => void,
): OpenConnection {
  const writer: BoundedWriter = new BoundedWriter(
    { write: (text, onWritten) => sendLines(socket, text, onWritten) },
    unreadLimits,
    () => giveUp(socket),
  );
  const client = new Client({ ...setup, writer });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const stopPings = keepAlive(socket, pingMs, () => {
    if (writer.isOverLimit) giveUp(socket);
  });
  socket.on("message", (data, isBinary) => {
    if (isBinary) socket.close(UNSUPPORTED_DATA, "send each frame as a text message");
    else client.push(textOf(data));
  });
  socket.on("error", () => socket.terminate());
  socket.on("close", () => {
    stopPings();
    writer.close();
    client.close();
    onClose();
    resolve();
  });
  return {
    end: async () => {
      await client.settled();
      await writer.end();
      socket.close(GOING_AWAY, "the host ends");
      setTimeout(() => socket.terminate(), CLOSE_MS).unref();
      await closed;
    },
  };
}

/** Closes the connection of a client that does not read, and discards its unsent data. */
function giveUp(socket: WebSocket): void {
  socket.close(TRY_AGAIN_LATER, "too much was left unread");
  // The close frame would wait behind the data that the client does not read.
  setTimeout(() => socket.terminate(), CLOSE_MS).unref();
}

function sendLines(socket: WebSocket, text: string, onWritten: () => void): void {
  const lines = text.split("\n");
  lines.pop();
  const last = lines.pop();
  for (const line of lines) socket.send(line);
  if (last === undefined) onWritten();
  else socket.send(last, () => onWritten());
}

/** Pings the client and disconnects it if it does not answer. Returns the function that stops this. */
function keepAlive(socket: WebSocket, pingMs: number, onPing: () => void): () => void {
  if (pingMs === 0) return () => {};
  let missed = 0;
  socket.on("pong", () => {
    missed = 0;
  });
  const timer = setInterval(() => {
    if (missed >= MAX_MISSED) {
      socket.terminate();
      return;
    }
    missed += 1;
    socket.ping();
    onPing();
  }, pingMs);
  return () => clearInterval(timer);
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString("utf8");
  return Buffer.from(data as Buffer).toString("utf8");
}
