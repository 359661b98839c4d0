import { boundedBytes } from "@tau-agent/system";

/** Larger than the public list of all models. */
const maxBytes = 16 * 1024 * 1024;

export interface GetOptions {
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs?: number | undefined;
}

/**
 * Fetches JSON of limited size without following redirects, because requests may contain a key.
 * @throws {Error} that says what is wrong with the answer
 */
export async function getJson(url: string, options: GetOptions): Promise<unknown> {
  const { fetch = globalThis.fetch, headers = {}, timeoutMs = 15_000 } = options;
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { headers, redirect: "manual", signal });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`the server answered with status ${response.status}`);
  }
  const bytes = await boundedBytes(
    response.body,
    maxBytes,
    () => new Error(`the answer is larger than ${maxBytes} bytes`),
  );
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new Error("the answer is not JSON");
  }
}
