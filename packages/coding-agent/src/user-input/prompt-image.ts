import type { ImageContent } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { imageDefect } from "./images/image-check.ts";
import { detectImageType } from "./images/image-type.ts";
import { type NormalizedImage, normalizeImage } from "./images/normalize-image.ts";

const dataUrl = /^data:[^;,]+;base64,/;

/**
 * Checks an image from a client and prepares it for a model. Its bytes, not the client, determine
 * the type.
 *
 * @throws {SessionError} `image_unusable` with the reason
 */
export async function preparePromptImage(
  image: ImageContent,
  options: { resizes: boolean },
): Promise<ImageContent> {
  const normalized = await normalizeBase64(image.data, options);
  if (normalized.kind === "unusable") {
    throw new SessionError("image_unusable", { reason: normalized.reason });
  }
  return { type: "image", data: normalized.data, mimeType: normalized.mimeType };
}

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
