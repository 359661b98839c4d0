import { ProviderError } from "./errors.ts";
import type { HeaderList } from "./transport/header-list.ts";
import { type ByteSource, nextPiece } from "./transport/reply.ts";

/** The error text for a web page; the {@link ProviderError} adds what to check. */
export const webPageText = "The server answered with a web page instead of a reply";

/**
 * The bytes of a reply, unless they are a web page, which a wrong address returns. Some gateways label a
 * stream as `text/html`, so the first character decides.
 *
 * @throws {ProviderError} `invalid_request`, because a retry would get the same page
 */
export async function refuseWebPage(
  source: ByteSource,
  headers: Pick<HeaderList, "get">,
): Promise<ByteSource> {
  const type = headers.get("content-type") ?? "";
  if (!/^(?:text\/html|application\/xhtml\+xml)\b/i.test(type)) return source;
  const first = await nextPiece(source);
  const beginning = first.done ? "" : Buffer.from(first.value.subarray(0, 1024)).toString("utf8");
  if (/^\uFEFF?\s*</.test(beginning)) {
    await source.return().catch(() => undefined);
    throw new ProviderError({ code: "invalid_request", message: webPageText });
  }
  let isFirst = true;
  const read: ByteSource["read"] = (resolve, reject) => {
    if (!isFirst) return source.read(resolve, reject);
    isFirst = false;
    resolve(first);
  };
  return { read, return: () => source.return() };
}
