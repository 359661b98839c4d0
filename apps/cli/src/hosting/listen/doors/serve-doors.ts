import type { IncomingMessage, ServerResponse } from "node:http";
import type { RunEncoder, ShownRequest } from "@tau-agent/rpc-client/streams";
import type { ErrorCode, ResponseFrame, Result } from "@tau-agent/rpc-protocol";
import { beginStream, cursorOf } from "../event-stream.ts";
import { fail } from "../http-answers.ts";
import type { PortParts } from "../port-parts.ts";
import {
  answerTo,
  type DoorBody,
  type DoorPrompt,
  type HostToolRequest,
  toResponse,
} from "./door-body.ts";
import { DoorClient, type DoorFrame } from "./door-client.ts";
import type { DoorFormat, DoorNames } from "./door-formats.ts";

export interface DoorExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly sessionId: string;
  readonly format: DoorFormat;
  readonly parts: PortParts;
}

/** A run that waits for answers, and the last frame sent; the next response continues there. */
interface Paused {
  readonly encoder: RunEncoder<object>;
  readonly format: DoorFormat;
  readonly names: DoorNames;
  readonly streamId: string;
  readonly seq: number;
}

type Position = { readonly streamId?: string; readonly after?: number };
type Snapshot = Pick<Result<"attach">, "state" | "pendingRequests" | "streamId" | "seq">;

/** HTTP status codes of refused prompts; all others get 400. */
const statusOf: Partial<Record<ErrorCode, number>> = {
  busy: 409,
  rewind_busy: 409,
  unknown_session: 404,
  session_closing: 404,
  session_lost: 409,
  draining: 503,
};

/** Sessions in the formats of other clients. Each response ends with the run or when the run waits for an answer. */
export class Doors {
  readonly #paused = new Map<string, Paused>();
  /** The last POST for each session, pending until the host has received its contents. */
  readonly #taking = new Map<string, Promise<void>>();

  /** All runs after a cursor. */
  async events(exchange: DoorExchange): Promise<void> {
    const { request } = exchange;
    const { searchParams } = new URL(request.url ?? "/", "http://host");
    const door = new Door(exchange, { threadId: exchange.sessionId });
    const frames = door.keep();
    if ((await door.follow(cursorOf(request, searchParams))) === undefined) return;
    door.begin();
    door.release(frames, (frame) => door.show(frame));
    for (const open of door.open) door.ask(open);
  }

  /** The current run from its beginning. */
  async stream(exchange: DoorExchange): Promise<void> {
    const { response, sessionId } = exchange;
    const door = new Door(exchange, { threadId: sessionId });
    // Frames are either kept from the beginning of the run or cannot be replayed at all.
    const frames = door.keep();
    const snapshot = await door.follow({ after: 0 });
    const isIdle = snapshot === undefined || !isBusy(snapshot);
    if (isIdle) {
      door.leave();
      if (!response.headersSent) response.writeHead(204).end();
      return;
    }
    door.begin();
    const start = frames.findLastIndex(({ type }) => type === "agent_start");
    const settled = frames.findLastIndex(({ type }) => type === "agent_settled");
    const active = frames.slice(start > settled ? start : settled + 1);
    door.release(active, (frame) => this.#show(door, frame));
    this.#askRest(door);
  }

  /** One at a time: if two answer the same request, the second finds it closed. */
  async prompt(exchange: DoorExchange, body: DoorBody): Promise<void> {
    const { sessionId } = exchange;
    const before = this.#taking.get(sessionId) ?? Promise.resolve();
    const taken = before.then(() => this.#take(exchange, body));
    const settled = taken.catch(() => {});
    this.#taking.set(sessionId, settled);
    try {
      await taken;
    } finally {
      if (this.#taking.get(sessionId) === settled) this.#taking.delete(sessionId);
    }
  }

  async #take(exchange: DoorExchange, body: DoorBody): Promise<void> {
    const { sessionId, response } = exchange;
    if (response.destroyed) return;
    const door = this.#doorOf(exchange, body);
    const kept = door.keep();
    const snapshot = await door.follow(body.prompt ? {} : this.#cursor(exchange));
    if (snapshot === undefined) this.#paused.delete(sessionId);
    // If the client has left, its request is dropped.
    if (snapshot === undefined || door.isOver) return;
    if (body.prompt !== undefined) {
      kept.length = 0;
      const refusal = refusalOf(await door.client.request("prompt", promptParams(body.prompt)));
      if (refusal !== undefined) {
        const hasLeft = door.isOver;
        door.leave();
        return hasLeft ? undefined : fail(response, refusal.status, refusal.error);
      }
    } else {
      const answers = door.open.flatMap((open) => {
        const answer = answerTo(open, body.answers);
        return answer === undefined ? [] : [{ open, answer }];
      });
      if (answers.length === 0) {
        door.leave();
        return fail(response, 409, `Nothing in the body answers an open request of ${sessionId}`);
      }
      door.encoder.takeUp(door.open.filter(isShown));
      for (const { open, answer } of answers) {
        door.answered.add(open.id);
        door.client.answer(toResponse(open, answer));
      }
    }
    this.#paused.delete(sessionId);
    door.begin();
    door.release(kept, (frame) => this.#show(door, frame));
    if (body.prompt === undefined) this.#askRest(door);
  }

  /** Shows the other open requests and ends the response there. */
  #askRest(door: Door): void {
    for (const open of door.open) {
      if (!isShown(open) || door.answered.has(open.id) || door.isOver) continue;
      door.ask(open);
      this.#pause(door);
    }
  }

  /** A response to an answer continues the message that the previous response began. */
  #doorOf(exchange: DoorExchange, { prompt, threadId, runId }: DoorBody): Door {
    const { sessionId, format } = exchange;
    const paused = this.#paused.get(sessionId);
    const isGoingOn = prompt === undefined && paused?.format === format;
    const names = isGoingOn ? paused.names : {};
    Object.assign(names, { threadId: threadId ?? sessionId, runId });
    return new Door(exchange, names, isGoingOn ? paused.encoder : undefined);
  }

  #cursor({ sessionId }: DoorExchange): Position {
    const { streamId, seq } = this.#paused.get(sessionId) ?? {};
    return streamId === undefined || seq === undefined ? {} : { streamId, after: seq };
  }

  #show(door: Door, frame: DoorFrame): void {
    if (door.isOver) return;
    const { endedRuns } = door.encoder;
    door.show(frame);
    if (frame.type === "host_request") this.#pause(door);
    else if (door.encoder.endedRuns > endedRuns || frame.type === "session_closed") door.end();
  }

  #pause(door: Door): void {
    if (door.isOver) return;
    const { encoder, names, streamId, seq, exchange } = door;
    const { format, sessionId } = exchange;
    this.#paused.set(sessionId, { encoder, names, streamId, seq, format });
    door.end();
  }
}

/** One response and the client that writes it. */
class Door {
  readonly client: DoorClient;
  readonly exchange: DoorExchange;
  readonly names: DoorNames;
  readonly encoder: RunEncoder<object>;
  readonly answered = new Set<string>();
  #hear: (frame: DoorFrame) => void = () => {};
  streamId = "";
  seq = 0;
  isOver = false;
  /** The requests that were open when the client attached. */
  open: readonly (ShownRequest | HostToolRequest)[] = [];
  #stream: ReturnType<typeof beginStream> | undefined;
  #live: (() => void) | undefined;

  constructor(exchange: DoorExchange, names: DoorNames, encoder?: RunEncoder<object>) {
    const { sessionId, parts, format } = exchange;
    this.exchange = exchange;
    this.names = names;
    this.encoder = encoder ?? format.encoder(names);
    const door = this;
    this.client = new DoorClient(sessionId, parts.setup, {
      get isDrained() {
        return door.#stream?.writer.isDrained ?? true;
      },
      onDrain: (listener) => {
        if (door.#stream === undefined) listener();
        else door.#stream.writer.onDrain(listener);
      },
      take: (frame) => door.#take(frame),
    });
    // A client that disconnects while it waits for the answer.
    exchange.response.on("close", () => this.leave());
  }

  /** Attaches to the session. If the session no longer exists, the response reports it and the result is undefined. */
  async follow(position: Position): Promise<Snapshot | undefined> {
    const live = new Promise<void>((resolve) => {
      this.#live = resolve;
    });
    const attached = await this.client.request("attach", position);
    const refusal = refusalOf(attached);
    if (refusal !== undefined) {
      this.leave();
      const { response } = this.exchange;
      if (!response.headersSent) fail(response, refusal.status, refusal.error);
      return undefined;
    }
    const snapshot = attached.data as Snapshot;
    this.streamId = snapshot.streamId;
    this.seq = Math.max(this.seq, position.after ?? snapshot.seq);
    // Doors do not serve URIs.
    const open = snapshot.pendingRequests.filter(({ method }) => method !== "host_uri");
    this.open = open as unknown as ShownRequest[];
    await live;
    return snapshot;
  }

  /** Buffers frames until the beginning of the response is known. */
  keep(): DoorFrame[] {
    const kept: DoorFrame[] = [];
    this.#hear = (frame) => void kept.push(frame);
    return kept;
  }

  release(kept: readonly DoorFrame[], hear: (frame: DoorFrame) => void): void {
    this.#hear = hear;
    for (const frame of kept) hear(frame);
  }

  /** Starts the response. */
  begin(): void {
    const { request, response, parts, format } = this.exchange;
    if (this.isOver) return;
    for (const [name, value] of Object.entries(format.headers)) response.setHeader(name, value);
    const { open, pingMs } = parts;
    const connection = { end: async () => this.end() };
    open.add(connection);
    this.#stream = beginStream(
      { request, response, pingMs, asEvents: (text) => text },
      () => void open.delete(connection),
    );
  }

  show(frame: DoorFrame): void {
    if (typeof frame.seq === "number") this.seq = frame.seq;
    this.#write(this.encoder.push(frame));
  }

  ask(open: ShownRequest | HostToolRequest): void {
    if (isShown(open)) this.show({ ...open, type: "host_request" });
  }

  /** Ends the response; the session continues. */
  end(): void {
    if (this.isOver) return;
    this.#write(this.encoder.end());
    this.#stream?.writer.write(this.exchange.format.end);
    void this.#stream?.end();
    this.leave();
  }

  leave(): void {
    this.isOver = true;
    this.#live?.();
    this.client.close();
  }

  #write(parts: readonly object[]): void {
    const id = `id: ${this.streamId}:${this.seq}\n`;
    for (const [index, part] of parts.entries()) {
      // A client can resume only after the last part of a frame.
      const head = index === parts.length - 1 ? id : "";
      this.#stream?.writer.write(`${head}data: ${JSON.stringify(part)}\n\n`);
    }
  }

  #take(frame: DoorFrame): void {
    if (frame.type === "live") this.#live?.();
    else if (!this.isOver) this.#hear(frame);
  }
}

function isShown(request: ShownRequest | HostToolRequest): request is ShownRequest {
  return request.method !== "host_tool";
}

function isBusy({ state }: Snapshot): boolean {
  return state.isStreaming || state.isCompacting || state.pendingRequests.length > 0;
}

/** Text from another client is used verbatim: no commands, templates or file references are expanded. */
function promptParams({ text, images, attachments }: DoorPrompt): object {
  return {
    message: text,
    verbatim: true,
    ...(images.length > 0 && { images }),
    ...(attachments.length > 0 && { attachments }),
  };
}

function refusalOf({ success, error = "", code }: ResponseFrame) {
  return success ? undefined : { status: (code && statusOf[code]) ?? 400, error };
}
