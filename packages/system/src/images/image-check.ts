import { crc32 } from "node:zlib";
import { detectImageType, imageDimensions } from "./image-type.ts";

/** Why an image cannot be decoded, judging by its structure; undefined if it looks complete. */
export function imageDefect(bytes: Buffer): string | undefined {
  const type = detectImageType(bytes);
  if (type === undefined) return "it is not an image of a known type";
  if (imageDimensions(bytes) === undefined) return "its header is damaged";
  if (type === "image/png") return pngDefect(bytes);
  const isWhole = {
    "image/jpeg": () => bytes.lastIndexOf("\xff\xd9", undefined, "latin1") > 0,
    "image/gif": () => bytes.subarray(13).includes(0x3b) && bytes.subarray(13).includes(0x2c),
    "image/webp": () => bytes.readUInt32LE(4) + 8 <= bytes.length + 1,
    "image/bmp": () => bytes.readUInt32LE(10) < bytes.length,
  }[type]();
  return isWhole ? undefined : "it is cut off";
}

function pngDefect(bytes: Buffer): string | undefined {
  let at = 8;
  let hasPixels = false;
  while (at + 12 <= bytes.length) {
    const end = at + 12 + bytes.readUInt32BE(at);
    if (end > bytes.length) return "it is cut off";
    const kind = bytes.toString("latin1", at + 4, at + 8);
    // Decoders ignore damage to a chunk that pixels do not need; the names of such chunks begin with a small letter.
    const isNeeded = /^[A-Z]/.test(kind);
    if (isNeeded && crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) {
      return `its ${kind} block is damaged`;
    }
    if (kind === "IDAT") hasPixels = true;
    if (kind === "IEND") return hasPixels ? undefined : "it has no pixels";
    at = end;
  }
  return "it is cut off";
}
