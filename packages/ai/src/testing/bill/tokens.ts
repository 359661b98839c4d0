/** Characters per token: the vendors' rule of thumb for English; real counts depend on the tokenizer. */
const charactersPerToken = 4;

/** The tokens of a text: a quarter of its characters. */
export function textTokens(text: string): number {
  return Math.ceil(text.length / charactersPerToken);
}

/** The number of complete tokens in a text of this length. */
export function wholeTokens(characters: number): number {
  return Math.floor(characters / charactersPerToken);
}

/** The size of a picture in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The assumed size of a picture that is neither PNG nor JPEG. */
const usualSize: Size = { width: 1024, height: 1024 };

/** The size of a base64-encoded PNG or JPEG. */
export function imageSize(base64: string): Size {
  const bytes = Buffer.from(base64, "base64");
  const isPng = bytes.length >= 24 && bytes.readUInt32BE(0) === 0x89504e47;
  if (isPng) return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  return jpegSize(bytes) ?? usualSize;
}

/** Scans the segments of a JPEG for the one with its size. */
function jpegSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 9 < bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes.readUInt16BE(at);
    const hasSize = marker >= 0xffc0 && marker <= 0xffcf;
    if (hasSize && ![0xffc4, 0xffc8, 0xffcc].includes(marker)) {
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
  }
  return undefined;
}

/**
 * The number of square patches of a picture, each of which is a token; a picture with more than `most` is scaled down.
 */
export function patches({ width, height }: Size, edge: number, most: number): number {
  const count = Math.ceil(width / edge) * Math.ceil(height / edge);
  return Math.min(count, most);
}
