import { bytesOf, isAt, skipString, unsure } from "./json-bytes.ts";

const beginnings = [
  { start: bytesOf('{"role":"user","content":'), end: bytesOf(",") },
  { start: bytesOf('{"role":"user","content":[{"type":"text","text":'), end: bytesOf("}],") },
];

/**
 * The JSON of the text of a user message that was scanned; undefined for one that has to be parsed: it has
 * several blocks, or another program has written it.
 */
export function userTextIn(message: Uint8Array): Uint8Array | undefined {
  for (const { start, end } of beginnings) {
    if (!isAt(message, 0, start)) continue;
    const textEnd = skipString(message, start.length);
    if (textEnd === unsure || !isAt(message, textEnd, end)) continue;
    return message.subarray(start.length, textEnd);
  }
  return undefined;
}
