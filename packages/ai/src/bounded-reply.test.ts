import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createGzip } from "node:zlib";
import { describe, expect, it } from "vitest";
import { boundReplies, type ReplyLimits } from "./bounded-reply.ts";

const url = "http://a.test";
const text = new TextEncoder();

function reply(pieces: Iterable<string>, status = 200, limits: Partial<ReplyLimits> = {}) {
  const source = pieces[Symbol.iterator]();
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = source.next();
      if (done) controller.close();
      else controller.enqueue(text.encode(value));
    },
    cancel() {
      isCancelled = true;
    },
  });
  const fetch: typeof globalThis.fetch = async () => new Response(body, { status });
  return {
    response: boundReplies(fetch, limits)(url),
    isCancelled: () => isCancelled,
  };
}

async function chunksOf(response: Response): Promise<string[]> {
  const chunks: string[] = [];
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) chunks.push(decoder.decode(chunk));
  return chunks;
}

function* endless(piece: string): Generator<string> {
  for (;;) yield piece;
}

describe("boundReplies", () => {
  it.each(["\n", "\r", "\r\n"])(
    "passes on complete events of lines that end with %j",
    async (end) => {
      const events = [
        `data: 1${end}${end}`,
        `event: x${end}data: 2${end}${end}`,
        `: note${end}${end}`,
      ];
      const whole = events.join("");
      const bytewise = await chunksOf(await reply(whole).response);
      expect(bytewise.join("")).toBe(whole);
      // The line feed of the last pair may arrive separately.
      expect(bytewise.filter((chunk) => chunk !== "\n")).toHaveLength(3);
      expect(await chunksOf(await reply([whole]).response)).toEqual([whole]);
      const cut = await chunksOf(await reply([whole.slice(0, 9), whole.slice(9)]).response);
      expect(cut.join("")).toBe(whole);
    },
  );

  it("keeps the bytes after the last event", async () => {
    expect(await chunksOf(await reply(["data: 1\n\nda", "ta: 2"]).response)).toEqual([
      "data: 1\n\n",
      "data: 2",
    ]);
  });

  it.each([
    ["a line without end", "x".repeat(1000)],
    ["an event of many lines", ": x\n".repeat(250)],
  ])("fails at %s and stops reading", async (_, piece) => {
    const { response, isCancelled } = reply(endless(piece), 200, { eventBytes: 1024 * 1024 });
    await expect(chunksOf(await response)).rejects.toMatchObject({
      name: "ProviderError",
      isRetryable: false,
      message: "The server sent an event of more than 1 MiB",
    });
    expect(isCancelled()).toBe(true);
  });

  it("fails for a reply that never ends", async () => {
    const { response } = reply(endless("data: 1\n\n"), 200, { streamBytes: 1024 * 1024 });
    await expect(chunksOf(await response)).rejects.toThrow("a reply of more than 1 MiB");
  });

  it("keeps the beginning of an endless error body", async () => {
    const { response, isCancelled } = reply(endless("x".repeat(999)), 502);
    expect(await (await response).text()).toHaveLength(64 * 1024);
    expect(isCancelled()).toBe(true);
  });

  it("does not wait for the rest of an error body", async () => {
    const body = new ReadableStream({ start: (stream) => stream.enqueue(text.encode("slow")) });
    const fetch: typeof globalThis.fetch = async () => new Response(body, { status: 500 });
    const response = await boundReplies(fetch, { errorMs: 20 })(url);
    expect([response.status, await response.text()]).toEqual([500, "slow"]);
  });

  it.each([200, 500])("counts bytes after decompression (status %i)", async (status) => {
    let sent = 0;
    const server = createServer((_request, response) => {
      response.writeHead(status, { "content-encoding": "gzip" });
      const gzip = createGzip();
      gzip.pipe(response);
      const zeros = Buffer.alloc(1024 * 1024, 97);
      const write = (): void => {
        for (; sent < 512; sent++) if (!gzip.write(zeros)) break;
        if (sent < 512) gzip.once("drain", write);
        else gzip.end();
      };
      write();
      response.on("close", () => gzip.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const limited = boundReplies(globalThis.fetch, { eventBytes: 4 * 1024 * 1024 });
    const response = await limited(`http://127.0.0.1:${port}`);
    if (status === 500) expect(await response.text()).toHaveLength(64 * 1024);
    else await expect(chunksOf(response)).rejects.toThrow("more than 4 MiB");
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(sent).toBeLessThan(256);
  });
});
