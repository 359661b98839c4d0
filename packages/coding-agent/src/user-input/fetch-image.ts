import type { ImageContent } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";

/** Largest image fetched from a URL. */
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;
const FETCH_TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 5;

/**
 * Fetches an image from a URL, with https for every redirect.
 *
 * @throws {SessionError} `invalid_url`, `fetch_failed`; both name the URL
 */
export async function fetchImage(
  url: string,
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Promise<ImageContent> {
  const signal = AbortSignal.timeout(FETCH_TIMEOUT_MS);
  try {
    const response = await follow(url, (target) => fetch(target, { signal, redirect: "manual" }));
    if (!response.ok) throw failure(url, `HTTP ${response.status}`);
    const data = (await readAtMost(response, MAX_IMAGE_BYTES, url)).toString("base64");
    const mimeType = response.headers.get("content-type")?.split(";")[0]?.trim() ?? "image/png";
    return { type: "image", data, mimeType };
  } catch (error) {
    if (error instanceof SessionError) throw error;
    throw failure(url, reasonOf(error), error);
  }
}

/** Every redirect must be https too: it must not lead where the first URL may not. */
async function follow(url: string, get: (url: string) => Promise<Response>): Promise<Response> {
  let target = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    if (!URL.canParse(target) || new URL(target).protocol !== "https:") {
      throw new SessionError("invalid_url", { url: target });
    }
    const response = await get(target);
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    await response.body?.cancel();
    target = URL.canParse(location, target) ? new URL(location, target).href : location;
  }
  throw failure(url, "it redirects too many times");
}

async function readAtMost(response: Response, limitBytes: number, url: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > limitBytes) throw failure(url, `it is larger than ${limitBytes / 1024 / 1024} MiB`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function failure(url: string, reason: string, cause?: unknown): SessionError {
  return new SessionError("fetch_failed", { url, reason }, { cause });
}

function reasonOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : { message: String(error), cause: "" };
  return cause instanceof Error && cause.message !== "" ? cause.message : message;
}
