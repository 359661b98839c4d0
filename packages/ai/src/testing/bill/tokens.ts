/** Characters per token. A rule of thumb of the vendors for English; real counts differ by tokenizer. */
const charactersPerToken = 4;

/** Tokens of a text: a quarter of its characters. */
export function textTokens(text: string): number {
  return Math.ceil(text.length / charactersPerToken);
}

/** Whole tokens at the beginning of a text of so many characters. */
export function wholeTokens(characters: number): number {
  return Math.floor(characters / charactersPerToken);
}

/** The size of a picture in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** What a picture is taken for whose size cannot be read: only PNG and JPEG are. */
const usualSize: Size = { width: 1024, height: 1024 };

/** The size of a PNG or JPEG, from base64. */
export function imageSize(base64: string): Size {
  const bytes = Buffer.from(base64, "base64");
  const isPng = bytes.length >= 24 && bytes.readUInt32BE(0) === 0x89504e47;
  if (isPng) return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  return jpegSize(bytes) ?? usualSize;
}

/** Walks the segments of a JPEG up to the one with its size. */
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

/** A picture is cut into square patches, each a token; one with more than `most` is made smaller. */
export function patches({ width, height }: Size, edge: number, most: number): number {
  const count = Math.ceil(width / edge) * Math.ceil(height / edge);
  return Math.min(count, most);
}
