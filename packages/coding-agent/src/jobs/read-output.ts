import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { attempt, incompleteCharacterBytes, maxOutputBytes } from "@tau-agent/system";

export interface OutputPiece {
  readonly output: string;
  /** The position behind it, in bytes from the start of the job. */
  readonly nextOffset: number;
  /** Whether output between the offset and the piece is missing. */
  readonly truncated: boolean;
}

interface Part {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Reads the output from an offset to its end as it is now; of more than `maxBytes`, the end. A
 * character whose rest has not been written is left for the next time.
 */
export function readOutput(
  folder: string,
  { offset = 0, maxBytes = maxOutputBytes }: { offset?: number; maxBytes?: number } = {},
): OutputPiece {
  const parts = partsIn(folder);
  const end = parts.at(-1)?.end ?? 0;
  const wanted = Math.min(offset, end);
  let from = Math.max(wanted, parts[0]?.start ?? 0, end - maxBytes);
  // Output that could not be written lies between two parts, and what follows it is what there is.
  for (const [index, part] of parts.entries()) {
    const next = parts[index + 1];
    if (next !== undefined && next.start > part.end && from < next.start) from = next.start;
  }
  let bytes = readParts(parts, from);
  const isCut = from > wanted;
  if (isCut) {
    const skipped = bytes.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
    bytes = bytes.subarray(Math.max(0, skipped));
  }
  const whole = bytes.length - incompleteCharacterBytes(bytes);
  return {
    output: bytes.toString("utf8", 0, whole),
    nextOffset: end - (bytes.length - whole),
    truncated: isCut,
  };
}

function partsIn(folder: string): readonly Part[] {
  const names = attempt(() => readdirSync(folder)) ?? [];
  const parts = names.flatMap((name): Part[] => {
    const start = /^output-(\d+)$/.exec(name)?.[1];
    const path = join(folder, name);
    const size = start && statSync(path, { throwIfNoEntry: false })?.size;
    return typeof size === "number"
      ? [{ path, start: Number(start), end: Number(start) + size }]
      : [];
  });
  return parts.sort((left, right) => left.start - right.start);
}

function readParts(parts: readonly Part[], from: number): Buffer {
  return Buffer.concat(parts.filter(({ end }) => end > from).map((part) => readPart(part, from)));
}

function readPart({ path, start, end }: Part, from: number): Buffer {
  const at = Math.max(0, from - start);
  const bytes = Buffer.alloc(end - start - at);
  try {
    const file = openSync(path, "r");
    try {
      return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, at));
    } finally {
      closeSync(file);
    }
  } catch {
    // Dropped meanwhile: it was the oldest.
    return Buffer.alloc(0);
  }
}
