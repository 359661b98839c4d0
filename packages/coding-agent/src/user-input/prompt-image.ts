import type { ImageContent } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { normalizeBase64 } from "@tau-agent/system";

/**
 * Checks an image from a client and prepares it for a model. Its bytes determine the type, not the client.
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
