import { renameSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { parseJson } from "@tau-agent/rpc-protocol/plain";
import { redactSecrets } from "../redact-secrets.ts";
import { listRecordings, type Recording } from "./recording.ts";

type Fetch = typeof globalThis.fetch;

/** Where and how exchanges are recorded. */
export interface RecordingOptions {
  /** Created if it does not exist; existing recordings are kept. */
  readonly directory: string;
  /** Default the global `fetch`. */
  readonly fetch?: Fetch | undefined;
}

/**
 * A `fetch` that records each exchange in files: the request without its keys, and the bytes of the response in the
 * pieces in which they arrived. The files exist once the body has been read to its end or its reader has stopped.
 */
export function recordingFetch({ directory, fetch = globalThis.fetch }: RecordingOptions): Fetch {
  let next: Promise<number> | undefined;
  const takeNumber = async (): Promise<string> => {
    const taken = next ?? nextNumber(directory);
    next = taken.then((number) => number + 1);
    return String(await taken).padStart(4, "0");
  };
  return async (input, init) => {
    const name = await takeNumber();
    const request = describeRequest(new Request(input, init));
    const response = await fetch(input, init);
    const save = async (chunks: readonly Uint8Array[], isCut: boolean): Promise<void> => {
      const { status } = response;
      const chunkBytes = chunks.map((chunk) => chunk.length);
      const headers = plainHeaders(response.headers);
      const recording: Recording = {
        request: await request,
        response: { status, headers, chunkBytes, isCut },
      };
      // Synchronous: a caller that stops at the last event does not wait for the files.
      writeFileSync(join(directory, `${name}.bin`), Buffer.concat(chunks), { mode: 0o600 });
      const json = `${JSON.stringify(recording, null, 2)}\n`;
      // A recording is valid once its JSON exists, so the file must never be visible half-written.
      const path = join(directory, `${name}.json`);
      writeFileSync(`${path}.part`, json, { mode: 0o600 });
      renameSync(`${path}.part`, path);
    };
    if (response.body === null) {
      await save([], false);
      return response;
    }
    const { status, statusText, headers } = response;
    // A reader may stop early on purpose; only the vendor can cut a reply off.
    const hasLeft = () => init?.signal?.aborted ?? false;
    return new Response(keep(response.body, save, hasLeft), { status, statusText, headers });
  };
}

async function nextNumber(directory: string): Promise<number> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return Number((await listRecordings(directory)).at(-1) ?? 0) + 1;
}

/** Passes a body on and saves it at its end, however it ends. */
function keep(
  body: ReadableStream<Uint8Array>,
  save: (chunks: readonly Uint8Array[], isCut: boolean) => Promise<void>,
  hasLeft: () => boolean,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let saving: Promise<void> | undefined;
  // Only once: a reader that stops also ends the read in progress.
  const saveOnce = (isCut: boolean): Promise<void> => {
    saving ??= save(chunks, isCut);
    return saving;
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          await saveOnce(false);
          controller.close();
          return;
        }
        chunks.push(value);
        controller.enqueue(value);
      } catch (error) {
        await saveOnce(!hasLeft());
        controller.error(error);
      }
    },
    async cancel(reason) {
      await Promise.all([saveOnce(false), reader.cancel(reason)]);
    },
  });
}

const secretHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "x-api-key",
  "x-goog-api-key",
  "api-key",
  "cookie",
  "set-cookie",
  "openai-organization",
  "openai-project",
  "anthropic-organization-id",
]);

/** Bodies arrive decoded, so headers that say otherwise would mislead a reader. */
const encodingHeaders: ReadonlySet<string> = new Set([
  "content-encoding",
  "content-length",
  "transfer-encoding",
]);

function plainHeaders(headers: Headers): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (encodingHeaders.has(name)) continue;
    plain[name] = secretHeaders.has(name) ? "[redacted]" : redactSecrets(value);
  }
  return plain;
}

async function describeRequest(request: Request): Promise<Recording["request"]> {
  const url = new URL(request.url);
  if (url.searchParams.has("key")) url.searchParams.set("key", "[redacted]");
  const headers = plainHeaders(request.headers);
  const text = redactSecrets(await request.text());
  const body = parseJson(text, text);
  return { method: request.method, url: url.href, headers, body };
}
