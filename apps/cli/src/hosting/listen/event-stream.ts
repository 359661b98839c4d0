import type { IncomingMessage, ServerResponse } from "node:http";
import { Attachment } from "../clients/attachment.ts";
import { BoundedWriter, unreadLimits } from "../clients/bounded-writer.ts";
import type { ClientSetup } from "../clients/client-options.ts";
import type { HostedSession } from "../sessions/hosted-session.ts";
import type { IsolatedSession } from "../sessions/isolated-session.ts";
import { openLineSocket } from "../sessions/line-socket.ts";
import type { OpenConnection } from "./port-parts.ts";

interface StreamOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly pingMs: number;
}

export interface EventStreamOptions extends StreamOptions {
  readonly hosted: HostedSession;
  readonly setup: ClientSetup;
}

/** The last member of a frame is its number. */
const seqAtEnd = /"seq":(\d+)\}$/;

/** Sends the frames of a session as server-sent events, each with a cursor as its id. */
export function serveEvents(
  { request, response, hosted, setup, pingMs }: EventStreamOptions,
  onClose: () => void,
): OpenConnection {
  const stream = beginStream({ request, response, pingMs, asEvents }, () => {
    attachment.leave();
    onClose();
  });
  const { pool, dialect } = setup;
  stream.streamId = hosted.streamId;
  const { writer, end } = stream;
  const attachment = new Attachment({
    hosted,
    writer,
    dialect,
    namesSession: pool.solo === undefined,
    onClosed: () => void end(),
  });
  attachment.connection.showsOrder = true;
  const { searchParams } = new URL(request.url ?? "/", "http://host");
  if (searchParams.get("stream") === "delta") attachment.connection.setStreamForm("delta");
  attachment.follow(cursorOf(request, searchParams));
  return { end };
}

export function serveIsolatedEvents(
  { session, ...options }: StreamOptions & { readonly session: IsolatedSession },
  onClose: () => void,
): OpenConnection {
  const { sessionId, path } = session;
  const stream = beginStream({ ...options, asEvents }, () => {
    line.close();
    onClose();
  });
  const line = openLineSocket(
    path,
    (text) => {
      const frame: { type: string; data?: { streamId?: string } } = JSON.parse(text);
      if (frame.type === "response") stream.streamId = frame.data?.streamId ?? "";
      else stream.writer.write(`${text}\n`);
    },
    () => void stream.end(),
  );
  const { request } = options;
  const { searchParams } = new URL(request.url ?? "/", "http://host");
  const cursor = cursorOf(request, searchParams);
  line.send(JSON.stringify({ type: "attach", id: "events", sessionId, ...cursor }));
  return { end: stream.end };
}

/** Starts a response of server-sent events; `asEvents` formats what is written. */
export function beginStream(
  {
    request,
    response,
    pingMs,
    asEvents,
  }: StreamOptions & { readonly asEvents: (text: string, streamId: string) => string },
  onClose: () => void,
) {
  const { socket } = request;
  socket.setKeepAlive(true, pingMs);
  socket.setNoDelay(true);
  response.writeHead(200, {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
  });
  response.flushHeaders();
  const stream = {
    streamId: "",
    writer: new BoundedWriter(
      {
        write: (text, onWritten) =>
          void response.write(asEvents(text, stream.streamId), () => onWritten()),
      },
      unreadLimits,
      () => socket.destroy(),
    ),
    end: async (): Promise<void> => {
      await stream.writer.end();
      response.end();
    },
  };
  const timer = pingMs > 0 ? setInterval(() => response.write(":\n\n"), pingMs) : undefined;
  response.on("error", () => socket.destroy());
  response.on("close", () => {
    clearInterval(timer);
    stream.writer.close();
    onClose();
  });
  return stream;
}

/** The cursor to resume from: in the header of a reconnecting stream, or in the URL. */
export function cursorOf(
  { headers }: IncomingMessage,
  query: URLSearchParams,
): { streamId?: string; after?: number } {
  const { "last-event-id": header } = headers;
  const cursor = (Array.isArray(header) ? header[0] : header) || query.get("after");
  if (!cursor) return {};
  const [, streamId, digits] = /^(?:(.*):)?(\d{1,15})$/.exec(cursor) ?? [];
  // A malformed cursor is treated like one of an unknown stream.
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
