import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { TokenCounts } from "../provider.ts";
import { deltasBefore, type Fault } from "./fault.ts";
import type { PlayedTurn } from "./scenario-player.ts";
import type { Signer } from "./signer.ts";
import { turnDeltas, usageOf } from "./turn-deltas.ts";
import type { ReplyWriter, WireFormat } from "./wire/wire-format.ts";

export interface Reply {
  readonly response: ServerResponse;
  readonly format: WireFormat;
  readonly played: PlayedTurn;
  readonly fault: Fault | undefined;
  readonly requestCharacters: number;
  /** The request's body. */
  readonly asked: JsonObject;
  readonly sign: Signer;
}

/** How many bytes are collected before sending, unless a pause requires single deltas. */
const batchSize = 16 * 1024;

const doesComeBefore = (fault: Fault): boolean => deltasBefore(fault) === undefined;

/** Simulates a fault that occurs before the first byte of the body; returns false if there is none. */
export function refuse(
  response: ServerResponse,
  format: WireFormat,
  fault: Fault | undefined,
): boolean {
  if (fault === undefined || !doesComeBefore(fault)) return false;
  switch (fault.kind) {
    case "status": {
      const { status, message = `Scripted status ${status}`, body, headers = {} } = fault;
      sendError(response, status, body ?? format.errorBody(status, message), headers);
      return true;
    }
    case "overflow": {
      const { message, code } = format.overflow;
      sendError(response, 400, format.errorBody(400, message, code));
      return true;
    }
    case "redirect":
      response.writeHead(fault.status ?? 307, { location: fault.location }).end();
      return true;
    case "reset":
      if (fault.when === "after_headers") {
        writeStreamHead(response, format);
        response.flushHeaders();
        setImmediate(() => response.socket?.resetAndDestroy());
      } else response.socket?.resetAndDestroy();
      return true;
    default:
      return false;
  }
}

/** Sends an error response; a text body is sent unchanged. */
export function sendError(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

function writeStreamHead(response: ServerResponse, { contentType }: WireFormat): void {
  const type = contentType ?? "text/event-stream";
  response.writeHead(200, { "content-type": type, "cache-control": "no-cache" });
}

/** Streams a turn like the vendor. Ends early if the client disconnects. */
export async function sendReply(reply: Reply): Promise<void> {
  const { response, format, played, fault } = reply;
  const { turn, request } = played;
  const { model } = request;
  const usage: TokenCounts = usageOf(turn, reply.requestCharacters);
  const id = `reply-${request.index}`;
  const writer = format.createWriter({ id, model, usage, asked: reply.asked });
  writeStreamHead(response, format);
  let left = deltasBefore(fault) ?? Number.POSITIVE_INFINITY;
  const batch = createBatch(response, format);
  batch.add(writer.start());
  for (const { delta, delayMs } of turnDeltas(turn, request.index, usage, reply.sign)) {
    if (response.destroyed) return;
    if (delayMs > 0) {
      await batch.flush();
      await sleep(delayMs);
    }
    // Faults count pieces of blocks, which is what a reader sees.
    const isPiece =
      delta.type === "text" || delta.type === "thinking" || delta.type === "tool_call";
    const isLast = delta.type === "stop";
    if (
      fault !== undefined &&
      ((isPiece && left-- <= 0) || (isLast && left !== Number.POSITIVE_INFINITY))
    ) {
      await batch.flush();
      playFault(response, writer, { fault, format });
      return;
    }
    batch.add(writer.write(delta));
    if (batch.isFull) await batch.flush();
  }
  await batch.flush();
  response.end();
}

function playFault(
  response: ServerResponse,
  writer: ReplyWriter,
  { fault, format }: { readonly fault: Fault; readonly format: WireFormat },
): void {
  switch (fault.kind) {
    case "reset":
      // The data must arrive before the connection is reset.
      setTimeout(() => response.socket?.resetAndDestroy(), 5);
      return;
    case "stall":
      return;
    case "garbage":
      response.end('data: {"unfinished": \u0000\u0001\n\n\u00ff\u00fe garbage\n\n');
      return;
    case "error_event":
      response.end(bytesOf(format, writer.error(fault.message, fault.code)));
      return;
    default:
      response.end();
  }
}

function bytesOf(format: WireFormat, events: string): string | Uint8Array {
  return format.toBytes?.(events) ?? events;
}

function createBatch(response: ServerResponse, format: WireFormat) {
  let parts: string[] = [];
  let size = 0;

  return {
    get isFull(): boolean {
      return size >= batchSize;
    },
    add(part: string): void {
      if (part === "") return;
      parts.push(part);
      size += part.length;
    },
    /** Sends the collected bytes, and waits if the client is slower. */
    async flush(): Promise<void> {
      if (size === 0 || response.destroyed) return;
      const text = parts.join("");
      parts = [];
      size = 0;
      if (response.write(bytesOf(format, text))) return;
      const left = new AbortController();
      const leave = () => left.abort();
      response.once("close", leave);
      await once(response, "drain", { signal: left.signal }).catch(() => undefined);
      response.off("close", leave);
    },
  };
}
