import { imageDefect } from "./image-check.ts";
import { detectImageType } from "./image-type.ts";
import { type NormalizedImage, normalizeImage } from "./normalize-image.ts";

const dataUrl = /^data:[^;,]+;base64,/;

/** {@link normalizeImage} for base64 or a data URL; without `resizes` it only checks. */
export async function normalizeBase64(
  data: string,
  { resizes }: { resizes: boolean },
): Promise<NormalizedImage> {
  const base64 = data.replace(dataUrl, "").replace(/\s+/g, "");
  if (base64 === "" || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(base64)) {
    return { kind: "unusable", reason: "data is not base64" };
  }
  const bytes = Buffer.from(base64, "base64");
  return resizes ? normalizeImage(bytes) : checked(bytes, base64);
}

function checked(bytes: Buffer, data: string): NormalizedImage {
  const mimeType = detectImageType(bytes);
  const reason = imageDefect(bytes);
  if (mimeType === undefined || reason !== undefined) {
    return { kind: "unusable", reason: reason ?? "its type is not known" };
  }
  return { kind: "image", data, mimeType };
}
