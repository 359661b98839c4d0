// Browsers ignore some of these inside a scheme; others disguise an address.
const ignorable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
  /[\u0000-\u0020\u007f-\u00a0\u00ad\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\u3000\ufeff]/g;

const linkSchemes: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

/** The address to link to; undefined if it is relative or its scheme is not allowed. */
export function safeUrl(address: string): string | undefined {
  const cleaned = address.replace(ignorable, "");
  if (!URL.canParse(cleaned)) return undefined;
  const url = new URL(cleaned);
  return linkSchemes.has(url.protocol) ? url.href : undefined;
}

/** Types that contain only pixels. An SVG is a document, so it is shown as text instead. */
const imageTypes: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/bmp",
  "image/avif",
]);

/** A data URL for base64 image data; undefined if the type or the data is not that of an image. */
export function imageUrl(mimeType: unknown, data: unknown): string | undefined {
  if (typeof mimeType !== "string" || typeof data !== "string") return undefined;
  const type = mimeType.trim().toLowerCase().replace("image/jpg", "image/jpeg");
  if (!imageTypes.has(type)) return undefined;
  const base64 = data.replace(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/");
  return /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? `data:${type};base64,${base64}` : undefined;
}

export function parseDataUrl(
  address: string,
): { readonly mimeType: string; readonly data: string } | undefined {
  const comma = address.indexOf(",");
  const head = /^data:([\w.+-]+\/[\w.+-]+);base64$/i.exec(address.slice(0, comma).trim());
  return head?.[1] === undefined
    ? undefined
    : { mimeType: head[1], data: address.slice(comma + 1) };
}
