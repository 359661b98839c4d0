import {
  incompleteCharacterBytes,
  maxOutputBytes,
  type OutputMask,
  unlessMissing,
} from "@tau-agent/system";
import type { JobPlace } from "./job-folders.ts";

export interface OutputPiece {
  readonly output: string;
  /** The position behind it, in bytes from the start of the job. */
  readonly nextOffset: number;
  /** Whether output between the offset and the piece is missing. */
  readonly truncated: boolean;
}

export interface OutputWish {
  readonly offset?: number | undefined;
  readonly maxBytes?: number;
  /** More may come: what may be the beginning of a key is left for the next time. */
  readonly isGrowing?: boolean;
  readonly mask?: OutputMask | undefined;
}

interface Part {
  readonly path: string;
  readonly start: number;
}

interface SizedPart extends Part {
  readonly end: number;
}

/**
 * Reads the output from an offset to its end as it is now; of more than `maxBytes`, the end. A
 * character whose rest has not been written is left for the next time.
 */
export async function readOutput(
  place: Pick<JobPlace, "workspace" | "path">,
  folder: string,
  { offset = 0, maxBytes = maxOutputBytes, isGrowing = false, mask }: OutputWish = {},
): Promise<OutputPiece> {
  const { parts, end, from, wanted } = await partsFrom(place, folder, { offset, maxBytes });
  const overlap = Math.max(0, ...(mask?.keys ?? []).map((key) => Buffer.byteLength(key) - 1));
  const first = parts.find((part) => part.end > from)?.start ?? from;
  const before = Math.min(overlap, from - first);
  let bytes = await readParts(place, parts, from - before);
  let left = 0;
  if (mask === undefined) bytes = bytes.subarray(before);
  else ({ bytes, left } = masked(mask, bytes, { before, isGrowing }));
  const isCut = from > wanted;
  if (isCut) {
    const skipped = bytes.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
    bytes = bytes.subarray(Math.max(0, skipped));
  }
  const whole = bytes.length - incompleteCharacterBytes(bytes);
  return {
    output: bytes.toString("utf8", 0, whole),
    nextOffset: Math.max(from, end - (bytes.length - whole) - left),
    truncated: isCut,
  };
}

/** The bytes behind `before` without keys, also without the rest of one that began earlier. */
function masked(
  mask: OutputMask,
  bytes: Buffer,
  { before, isGrowing }: { readonly before: number; readonly isGrowing: boolean },
): { readonly bytes: Buffer; readonly left: number } {
  mask.push(bytes.subarray(0, before));
  const held = bytes.subarray(before - mask.heldBytes, before);
  const shown = mask.push(bytes.subarray(before));
  const left = isGrowing ? mask.heldBytes : 0;
  const all = isGrowing ? shown : Buffer.concat([shown, mask.end()]);
  // It was no key, and the piece before has shown it.
  const isShown = held.length > 0 && all.subarray(0, held.length).equals(held);
  return { bytes: isShown ? all.subarray(held.length) : all, left };
}

/** The files from an offset on, of which only those are looked at. */
async function partsFrom(
  { workspace, path }: Pick<JobPlace, "workspace" | "path">,
  folder: string,
  { offset, maxBytes }: { readonly offset: number; readonly maxBytes: number },
) {
  const entries = (await unlessMissing(workspace.list(folder))) ?? [];
  const all = entries
    .flatMap(({ name }): Part[] => {
      const start = /^output-(\d+)$/.exec(name)?.[1];
      return start === undefined ? [] : [{ path: path.join(folder, name), start: Number(start) }];
    })
    .sort((left, right) => left.start - right.start);
  const sized = async (part: Part): Promise<SizedPart> => {
    const found = await workspace.stat(part.path);
    return { ...part, end: part.start + (found?.size ?? 0) };
  };
  const last = all.pop();
  const newest = last && (await sized(last));
  const end = newest?.end ?? 0;
  const wanted = Math.min(offset, end);
  let from = Math.max(wanted, all[0]?.start ?? newest?.start ?? 0, end - maxBytes);
  const needed = all.filter((_, index) => (all[index + 1] ?? last ?? { start: 0 }).start > from);
  const parts = await Promise.all(needed.map(sized));
  if (newest !== undefined) parts.push(newest);
  // Output that could not be written lies between two parts, and what follows it is what there is.
  for (const [index, part] of parts.entries()) {
    const next = parts[index + 1];
    if (next !== undefined && next.start > part.end && from < next.start) from = next.start;
  }
  return { parts, end, from, wanted };
}

async function readParts(
  { workspace }: Pick<JobPlace, "workspace">,
  parts: readonly SizedPart[],
  from: number,
): Promise<Buffer> {
  const wanted = parts.filter(({ end }) => end > from);
  const pieces = wanted.map(({ path, start, end }) => {
    const offset = Math.max(0, from - start);
    // Dropped meanwhile: it was the oldest.
    return unlessMissing(workspace.read(path, { offset, length: end - start - offset }));
  });
  return Buffer.concat((await Promise.all(pieces)).map((piece) => piece ?? new Uint8Array()));
}
