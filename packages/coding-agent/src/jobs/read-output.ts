import {
  incompleteCharacterBytes,
  maxOutputBytes,
  type OutputMask,
  unlessMissing,
} from "@tau-agent/system";
import type { JobPlace } from "./job-folders.ts";

export interface OutputPiece {
  readonly output: string;
  /** The position after the piece, in bytes from the start of the job. */
  readonly nextOffset: number;
  /** Whether output between the offset and the piece is missing. */
  readonly truncated: boolean;
}

export interface OutputWish {
  readonly offset?: number | undefined;
  readonly maxBytes?: number;
  /** Whether more output may come: the possible beginning of a key is left for the next read. */
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
 * Reads the output from an offset to its current end; if there are more than `maxBytes`, only the
 * end. An incomplete character is left for the next read.
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

/** The bytes after `before` with keys masked, including the rest of a key that began earlier. */
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
  // The held bytes were not part of a key, and the previous piece has already shown them.
  const isShown = held.length > 0 && all.subarray(0, held.length).equals(held);
  return { bytes: isShown ? all.subarray(held.length) : all, left };
}

/** The files from an offset on; only these are examined. */
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
  // Output that could not be written leaves a gap between two parts; reading starts after the last gap.
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
    // The file was dropped meanwhile, because it was the oldest.
    return unlessMissing(workspace.read(path, { offset, length: end - start - offset }));
  });
  return Buffer.concat((await Promise.all(pieces)).map((piece) => piece ?? new Uint8Array()));
}
