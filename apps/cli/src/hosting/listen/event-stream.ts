import type { IncomingMessage, ServerResponse } from "node:http";
import { Attachment } from "../clients/attachment.ts";
import { BoundedWriter, unreadLimits } from "../clients/bounded-writer.ts";
import type { ClientSetup } from "../clients/client.ts";
import type { HostedSession } from "../sessions/hosted-session.ts";
import type { OpenConnection } from "./port-parts.ts";

/** What a stream of events is made from. */
export interface EventStreamOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly hosted: HostedSession;
  readonly setup: ClientSetup;
  readonly pingMs: number;
}

/** The number of a frame is its last member. */
const seqAtEnd = /"seq":(\d+)\}$/;

/** Sends the frames of a session as server-sent events, each with a cursor as its id. */
export function serveEvents(
  { request, response, hosted, setup, pingMs }: EventStreamOptions,
  onClose: () => void,
): OpenConnection {
  const { socket } = request;
  socket.setKeepAlive(true, pingMs);
  socket.setNoDelay(true);
  response.writeHead(200, {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
  });
  response.flushHeaders();
  const { pool, dialect, onInternalError } = setup;
  const writer: BoundedWriter = new BoundedWriter(
    {
      write: (text, onWritten) =>
        void response.write(asEvents(text, hosted.streamId), () => onWritten()),
    },
    unreadLimits,
    () => socket.destroy(),
  );
  const end = async (): Promise<void> => {
    await writer.end();
    response.end();
  };
  const attachment = new Attachment({
    hosted,
    writer,
    dialect,
    namesSession: pool.solo === undefined,
    drain: () => pool.drain(),
    isDraining: () => pool.isDraining,
    onAnswered: () => {},
    onInternalError,
    onClosed: () => void end(),
  });
  attachment.connection.showsOrder = true;
  const { searchParams } = new URL(request.url ?? "/", "http://host");
  if (searchParams.get("stream") === "delta") attachment.connection.setStreamForm("delta");
  attachment.follow(cursorOf(request, searchParams));
  const timer = pingMs > 0 ? setInterval(() => response.write(":\n\n"), pingMs) : undefined;
  response.on("error", () => socket.destroy());
  response.on("close", () => {
    clearInterval(timer);
    writer.close();
    attachment.leave();
    onClose();
  });
  return { end };
}

/** Where the client goes on: from the header of a stream that was cut, or from its address. */
function cursorOf(
  { headers }: IncomingMessage,
  query: URLSearchParams,
): { streamId?: string; after?: number } {
  const { "last-event-id": header } = headers;
  const cursor = (Array.isArray(header) ? header[0] : header) || query.get("after");
  if (!cursor) return {};
  const [, streamId, digits] = /^(?:(.*):)?(\d{1,15})$/.exec(cursor) ?? [];
  // What is not a cursor is one of a stream that does not exist.
  if (digits === undefined) return { streamId: cursor, after: 0 };
  return { ...(streamId === undefined ? {} : { streamId }), after: Number(digits) };
}

function asEvents(text: string, streamId: string): string {
  const lines = text.split("\n");
  lines.pop();
  return lines
    .map((line) => {
      const [, seq] = seqAtEnd.exec(line) ?? [];
      const id = seq === undefined ? "" : `id: ${streamId}:${seq}\n`;
      return `${id}data: ${line}\n\n`;
    })
    .join("");
}
