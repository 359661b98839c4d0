import { crc32 } from "node:zlib";

const preludeBytes = 12;
const checksumBytes = 4;
const textType = 7;

/** Converts server-sent events to AWS's binary messages; an event named `…Exception` becomes an error. */
export function toEventStream(events: string): Uint8Array {
  const messages = events.split("\n\n").flatMap((event) => {
    const name = /^event: ?(.*)$/m.exec(event)?.[1];
    const data = /^data: ?(.*)$/m.exec(event)?.[1];
    return name === undefined && data === undefined ? [] : [frame(name ?? "", data ?? "")];
  });
  return Buffer.concat(messages);
}

function frame(name: string, data: string): Buffer {
  const isException = name.endsWith("Exception");
  const headers = Buffer.concat([
    header(isException ? ":exception-type" : ":event-type", name),
    header(":content-type", "application/json"),
    header(":message-type", isException ? "exception" : "event"),
  ]);
  return sealed(headers, Buffer.from(data));
}

/** A message with its sizes and checksums. */
function sealed(headers: Buffer, payload: Buffer): Buffer {
  const size = preludeBytes + headers.length + payload.length + checksumBytes;
  const message = Buffer.alloc(size);
  message.writeUInt32BE(size, 0);
  message.writeUInt32BE(headers.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  headers.copy(message, preludeBytes);
  payload.copy(message, preludeBytes + headers.length);
  const end = size - checksumBytes;
  message.writeUInt32BE(crc32(message.subarray(0, end)), end);
  return message;
}

/**
 * Replaces the payloads of messages. An unchanged message keeps its bytes, including wrong checksums, and so
 * does everything after an invalid size.
 */
export function mapPayloads(bytes: Buffer, change: (payload: string) => string): Buffer {
  const messages: Buffer[] = [];
  let from = 0;
  while (from + preludeBytes + checksumBytes <= bytes.length) {
    const size = bytes.readUInt32BE(from);
    const headersEnd = preludeBytes + bytes.readUInt32BE(from + 4);
    const payloadEnd = size - checksumBytes;
    if (headersEnd > payloadEnd || from + size > bytes.length) break;
    const message = bytes.subarray(from, from + size);
    const payload = message.toString("latin1", headersEnd, payloadEnd);
    const changed = change(payload);
    const headers = message.subarray(preludeBytes, headersEnd);
    messages.push(changed === payload ? message : sealed(headers, Buffer.from(changed, "latin1")));
    from += size;
  }
  return Buffer.concat([
    ...messages,
    Buffer.from(change(bytes.toString("latin1", from)), "latin1"),
  ]);
}

function header(name: string, value: string): Buffer {
  const text = Buffer.from(value);
  const start = Buffer.alloc(1 + name.length + 3);
  start.writeUInt8(name.length, 0);
  start.write(name, 1);
  start.writeUInt8(textType, 1 + name.length);
  start.writeUInt16BE(text.length, 2 + name.length);
  return Buffer.concat([start, text]);
}
