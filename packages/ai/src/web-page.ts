import { ProviderError } from "./errors.ts";
import type { HeaderList } from "./transport/header-list.ts";
import { type ByteSource, nextPiece } from "./transport/reply.ts";

/** What a web page is answered with; {@link ProviderError} of it says what to check. */
export const webPageText = "The server answered with a web page instead of a reply";

/**
 * The bytes of a reply, unless they are a web page, as a wrong address answers. There are gateways that
 * call a stream `text/html`, so its first character decides.
 *
 * @throws {ProviderError} `invalid_request`, as another attempt would get the same page
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
