import type { ImageContent } from "@tau-agent/rpc-protocol/messages";
import { errorMessage, SessionError } from "@tau-agent/rpc-protocol/plain";
import type { FetchForeign } from "@tau-agent/system";

const limits = { accept: "image/*", maxBytes: 20 * 1024 * 1024, timeoutMs: 30_000 };

/**
 * Fetches an image from a URL. Every redirect must use https, and every address must be public.
 *
 * @throws {SessionError} `invalid_url`, `fetch_failed`; both name the URL
 */
export async function fetchImage(
  url: string,
  fetch: FetchForeign | undefined,
): Promise<ImageContent> {
  if (!URL.canParse(url) || new URL(url).protocol !== "https:") {
    throw new SessionError("invalid_url", { url });
  }
  const failure = (reason: string, cause?: unknown) =>
    new SessionError("fetch_failed", { url, reason }, { cause });
  if (fetch === undefined) throw failure("nothing is fetched here");
  const reply = await fetch({ url, schemes: ["https:"], ...limits }).catch((error: unknown) => {
    throw failure(errorMessage(error), error);
  });
  if (reply.status < 200 || reply.status >= 300) throw failure(`HTTP ${reply.status}`);
  const mimeType = reply.contentType.split(";")[0]?.trim() || "image/png";
  return { type: "image", data: reply.body.toString("base64"), mimeType };
}
