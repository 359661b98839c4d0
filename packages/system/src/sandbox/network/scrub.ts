import { Transform } from "node:stream";
import type { Replacement } from "./session-secrets.ts";

/** A text with its values replaced; undefined if it contains none. */
export function scrubText(text: string, replacements: readonly Replacement[]): string {
  return replacements.reduce(
    (clean, { value, placeholder }) => clean.replaceAll(value, placeholder),
    text,
  );
}

interface Needle {
  readonly bytes: Buffer;
  readonly instead: Buffer;
}

/**
 * Replaces values in a stream, even across chunk boundaries. Holds back only bytes that may be the beginning
 * of a value.
 */
export function scrubStream(replacements: () => readonly Replacement[]): Transform {
  let rest: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const needles = needlesOf(replacements());
      const { clean, left } = scrub(Buffer.concat([rest, chunk]), needles);
      rest = left;
      done(null, clean);
    },
    flush(done) {
      done(null, rest);
    },
  });
}

/** The longest first: one value may begin with another. */
function needlesOf(replacements: readonly Replacement[]): readonly Needle[] {
  return replacements
    .map(({ value, placeholder }) => ({
      bytes: Buffer.from(value, "latin1"),
      instead: Buffer.from(placeholder, "latin1"),
    }))
    .sort((a, b) => b.bytes.length - a.bytes.length);
}

function scrub(data: Buffer, needles: readonly Needle[]): { clean: Buffer; left: Buffer } {
  const parts: Buffer[] = [];
  let start = 0;
  for (;;) {
    const found = firstOf(data, start, needles);
    if (found === undefined) break;
    // A longer value may still begin before this one ends.
    parts.push(data.subarray(start, found.at), found.needle.instead);
    start = found.at + found.needle.bytes.length;
  }
  const kept = heldBack(data.subarray(start), needles);
  const end = data.length - kept;
  parts.push(data.subarray(start, end));
  return { clean: Buffer.concat(parts), left: Buffer.from(data.subarray(end)) };
}

function firstOf(data: Buffer, start: number, needles: readonly Needle[]) {
  return needles
    .map((needle) => ({ needle, at: data.indexOf(needle.bytes, start) }))
    .filter(({ at }) => at !== -1)
    .reduce<{ needle: Needle; at: number } | undefined>(
      (first, found) => (first === undefined || found.at < first.at ? found : first),
      undefined,
    );
}

/** How many bytes at the end may be the beginning of a value. */
function heldBack(data: Buffer, needles: readonly Needle[]): number {
  const longest = needles[0]?.bytes.length ?? 0;
  for (let count = Math.min(longest - 1, data.length); count > 0; count -= 1) {
    const end = data.subarray(data.length - count);
    const isBeginning = ({ bytes }: Needle) =>
      bytes.length > count && bytes.subarray(0, count).equals(end);
    if (needles.some(isBeginning)) return count;
  }
  return 0;
}
