import type { IncomingMessage, ServerResponse } from "node:http";
import { DEFAULT_MAX_LINE_BYTES } from "@tau-agent/rpc-protocol";
import { type JsonObject, parseObject } from "@tau-agent/rpc-protocol/plain";

export function fail(response: ServerResponse, status: number, error: string): void {
  tell(response, status, { error });
}

export function tell(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "Content-Type": "application/json", "Cache-Control": "no-store" });
  response.end(`${JSON.stringify(body)}\n`);
}

export function wrongMethod(response: ServerResponse, method: string): void {
  response.setHeader("Allow", `${method}, OPTIONS`);
  fail(response, 405, `Use ${method}`);
}

/** The body of a POST with a JSON object, both as text and parsed; undefined once the request is refused. */
export async function readObject(
  request: IncomingMessage,
  response: ServerResponse,
): Promise<{ readonly text: string; readonly object: JsonObject } | undefined> {
  if (request.method !== "POST") return void wrongMethod(response, "POST");
  const type = request.headers["content-type"] ?? "";
  if (!/^application\/json *(;|$)/i.test(type)) {
    return void fail(response, 415, "Send the body as application/json");
  }
  const text = await readBody(request);
  if (text === undefined) {
    response.setHeader("Connection", "close");
    return void fail(response, 413, `A body has at most ${DEFAULT_MAX_LINE_BYTES} bytes`);
  }
  const object = parseObject(text);
  if (object === undefined) return void fail(response, 400, "The body is not a JSON object");
  return { text, object };
}

/** The body; undefined if it is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  if (Number(request.headers["content-length"] ?? 0) > DEFAULT_MAX_LINE_BYTES) return undefined;
  // Does not destroy the request, because its socket has to carry the response.
  for await (const piece of request.iterator({ destroyOnReturn: false })) {
    bytes += (piece as Buffer).length;
    if (bytes > DEFAULT_MAX_LINE_BYTES) return undefined;
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces).toString("utf8");
}
