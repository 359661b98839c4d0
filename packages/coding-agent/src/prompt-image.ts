import type { ImageContent } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "./errors.ts";
import { imageDefect } from "./tools/images/image-check.ts";
import { detectImageType } from "./tools/images/image-type.ts";
import { normalizeImage } from "./tools/images/normalize-image.ts";

const dataUrl = /^data:[^;,]+;base64,/;

/**
 * Checks an image a client sent and makes it fit for a model. The bytes, not the client's word, say
 * of which type it is.
 *
 * @throws {SessionError} `image_unusable` with the reason
 */
export async function preparePromptImage(
  image: ImageContent,
  { resizes }: { resizes: boolean },
): Promise<ImageContent> {
  const base64 = image.data.replace(dataUrl, "").replace(/\s+/g, "");
  if (base64 === "" || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(base64)) {
    throw new SessionError("image_unusable", { reason: "data is not base64" });
  }
  const bytes = Buffer.from(base64, "base64");
  if (!resizes) return checked(bytes, base64);
  const normalized = await normalizeImage(bytes);
  if (normalized.kind === "unusable") {
    throw new SessionError("image_unusable", { reason: normalized.reason });
  }
  return { type: "image", data: normalized.data, mimeType: normalized.mimeType };
}

function checked(bytes: Buffer, data: string): ImageContent {
  const mimeType = detectImageType(bytes);
  const reason = imageDefect(bytes);
  if (mimeType === undefined || reason !== undefined) {
    throw new SessionError("image_unusable", { reason: reason ?? "its type is not known" });
  }
  return { type: "image", data, mimeType };
}
