export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/bmp";

export interface ImageDimensions {
  readonly width: number;
  readonly height: number;
}

const bitmapHeaderSizes: ReadonlySet<number> = new Set([12, 40, 52, 56, 64, 108, 124]);

/** The type of an image by its first bytes (32 are enough); undefined for anything else. */
export function detectImageType(start: Uint8Array): ImageType | undefined {
  const bytes = Buffer.from(start.buffer, start.byteOffset, start.byteLength);
  const text = bytes.toString("latin1", 0, 32);
  if (text.startsWith("\x89PNG\r\n\x1a\n") && text.slice(12, 16) === "IHDR") return "image/png";
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return "image/jpeg";
  if (text.startsWith("RIFF") && text.slice(8, 12) === "WEBP") return "image/webp";
  // The signatures of these two are letters only, so a text can begin with them too.
  if (/^GIF8[79]a/.test(text) && isGifHeader(bytes)) return "image/gif";
  if (text.startsWith("BM") && isBitmapHeader(bytes)) return "image/bmp";
  return undefined;
}

export function imageDimensions(bytes: Buffer): ImageDimensions | undefined {
  try {
    const found = readDimensions(bytes);
    return found !== undefined && found.width > 0 && found.height > 0 ? found : undefined;
  } catch (error) {
    // The header is truncated.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readDimensions(bytes: Buffer): ImageDimensions | undefined {
  switch (detectImageType(bytes)) {
    case "image/png":
      return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
    case "image/gif":
      return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
    case "image/bmp":
      return bitmapDimensions(bytes);
    case "image/webp":
      return webpDimensions(bytes);
    case "image/jpeg":
      return jpegDimensions(bytes);
    case undefined:
      return undefined;
  }
}

function bitmapDimensions(bytes: Buffer): ImageDimensions {
  if (bytes.readUInt32LE(14) === 12) {
    return { width: bytes.readUInt16LE(18), height: bytes.readUInt16LE(20) };
  }
  return { width: bytes.readInt32LE(18), height: Math.abs(bytes.readInt32LE(22)) };
}

function webpDimensions(bytes: Buffer): ImageDimensions | undefined {
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

function jpegDimensions(bytes: Buffer): ImageDimensions | undefined {
  for (const { marker, start } of jpegSegments(bytes)) {
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame)
      return { height: bytes.readUInt16BE(start + 1), width: bytes.readUInt16BE(start + 3) };
  }
  return undefined;
}

/** The segments of a JPEG up to its pixel data; `start` is the first byte after the length. */
function* jpegSegments(
  bytes: Buffer,
): Generator<{ readonly marker: number; readonly start: number; readonly end: number }> {
  let at = 2;
  while (at + 4 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    // Any number of 0xff bytes may pad a marker.
    if (marker === 0xff) {
      at++;
      continue;
    }
    if (marker === 0xda || marker === 0xd9) return;
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    yield { marker, start: at + 4, end };
    at = end;
  }
}

/** The orientation that a JPEG's EXIF block asks for, 1 (as it is) to 8. */
export function jpegOrientation(bytes: Buffer): number {
  try {
    for (const { marker, start, end } of jpegSegments(bytes)) {
      const isExif = marker === 0xe1 && bytes.toString("latin1", start, start + 6) === "Exif\0\0";
      if (isExif) return exifOrientation(bytes.subarray(start + 6, end));
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return 1;
}

function exifOrientation(tiff: Buffer): number {
  const isLittle = tiff.toString("latin1", 0, 2) === "II";
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const long = (at: number) => (isLittle ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at));
  const directory = long(4);
  const entries = short(directory);
  for (let entry = 0; entry < entries; entry++) {
    const at = directory + 2 + entry * 12;
    if (short(at) !== 0x0112) continue;
    const value = short(at + 8);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

function isGifHeader(bytes: Buffer): boolean {
  if (bytes.length < 13) return false;
  // In a text all of these bytes are printable; in a GIF some of size, flags or ratio are not.
  return bytes
    .subarray(6, 13)
    .some((byte) => byte < 0x09 || (byte > 0x0d && byte < 0x20) || byte > 0x7e);
}

function isBitmapHeader(bytes: Buffer): boolean {
  return bytes.length >= 18 && bitmapHeaderSizes.has(bytes.readUInt32LE(14));
}
