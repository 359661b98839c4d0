import { backslash, bytesOf, isAt, quote, skipString, unsure } from "./json-bytes.ts";

const beginnings = [
  { start: bytesOf('{"role":"user","content":'), end: bytesOf(",") },
  { start: bytesOf('{"role":"user","content":[{"type":"text","text":'), end: bytesOf("}],") },
];

/** The index after a string; strings without escapes are found by native code (row `fork-messages`). */
function stringEnd(message: Buffer, at: number): number {
  const end = message[at] === quote ? message.indexOf(quote, at + 1) : -1;
  const isPlain = end !== -1 && message[end - 1] !== backslash;
  return isPlain ? end + 1 : skipString(message, at);
}

/**
 * The JSON of the text of a scanned user message; undefined if it must be parsed, because it has several
 * blocks or another program has written it.
 */
export function userTextIn(message: Buffer): Buffer | undefined {
  for (const { start, end } of beginnings) {
    if (!isAt(message, 0, start)) continue;
    const textEnd = stringEnd(message, start.length);
    if (textEnd === unsure || !isAt(message, textEnd, end)) continue;
    return message.subarray(start.length, textEnd);
  }
  return undefined;
}
