import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/temporary-folder.ts";
import type { StreamOptions } from "../provider.ts";
import { createStream } from "../stream.ts";
import { rateLimited } from "./fault.ts";
import { type LoopbackApi, loopbackApis } from "./loopback-api.ts";
import { startLoopbackServer } from "./loopback-server.ts";
import { listRecordings } from "./recording.ts";
import { recordingFetch } from "./recording-fetch.ts";
import { replayFetch } from "./replay-fetch.ts";
import { text, thinking, toolCall, turn } from "./scenario.ts";

const key = "sk-secret-abcdefghijklmnop";
const scenario = [
  turn([thinking("Hm."), text("Grüße 😀", { chunkSize: 2 }), toolCall("read", { path: "a" })]),
  turn("Bye"),
];
const stream = createStream({ now: () => 0, createToolCallId: () => "id" });

async function replies(
  server: { model: Awaited<ReturnType<typeof startLoopbackServer>>["model"] },
  api: LoopbackApi,
  options: StreamOptions,
) {
  const seen: unknown[] = [];
  for (const content of ["one", "two"]) {
    const context = { messages: [{ role: "user" as const, content, timestamp: 1 }] };
    for await (const event of stream(server.model(api), context, { apiKey: key, ...options })) {
      seen.push(event);
    }
  }
  return seen;
}

const recorded = (directory: string, count: number) =>
  expect.poll(() => listRecordings(directory)).toHaveLength(count);

describe.each(loopbackApis)("recordingFetch and replayFetch over %s", (api) => {
  it("replay recordings whole, in the recorded pieces and byte by byte", async () => {
    const directory = temporaryFolder();
    await using server = await startLoopbackServer({ scenario });
    const live = await replies(server, api, { fetch: recordingFetch({ directory }) });
    await recorded(directory, 2);
    expect(server.requestCount).toBe(2);
    expect(await replies(server, api, { fetch: replayFetch({ directory }) })).toEqual(live);
    const single = replayFetch({ directory, chunkBytes: 1 });
    expect(await replies(server, api, { fetch: single })).toEqual(live);
    expect(server.requestCount).toBe(2);
  });

  it("record no key", async () => {
    const directory = temporaryFolder();
    await using server = await startLoopbackServer({ scenario });
    await replies(server, api, { fetch: recordingFetch({ directory }) });
    await recorded(directory, 2);
    const kept = await readFile(join(directory, "0001.json"), "utf8");
    expect(kept).toContain("[redacted]");
    expect(kept).not.toContain(key);
    expect(kept).toContain("one");
  });
});

describe("recordingFetch", () => {
  it("records error responses and keeps existing recordings", async () => {
    const directory = temporaryFolder();
    await using server = await startLoopbackServer({ scenario, faults: [rateLimited(2)] });
    await replies(server, "openai-completions", { fetch: recordingFetch({ directory }) });
    await recorded(directory, 2);
    await fetch(`${server.url}/v1/models`);
    await (await recordingFetch({ directory })(`${server.url}/v1/models`)).text();
    expect(await listRecordings(directory)).toEqual(["0001", "0002", "0003"]);
    expect(JSON.parse(await readFile(join(directory, "0001.json"), "utf8"))).toMatchObject({
      response: { status: 429, headers: { "retry-after": "2" } },
    });
  });
});

describe("replayFetch", () => {
  it("refuses another path and an excess request", async () => {
    const directory = temporaryFolder();
    await using server = await startLoopbackServer({ scenario });
    await (await recordingFetch({ directory })(`${server.url}/v1/models`)).text();
    await expect(replayFetch({ directory })(`${server.url}/v1/other`)).rejects.toThrow(
      "Recording 0001 answers GET /v1/models, but the request is GET /v1/other",
    );
    const replay = replayFetch({ directory });
    await replay(`${server.url}/v1/models`);
    await expect(replay(`${server.url}/v1/models`)).rejects.toThrow("no recording for request 2");
  });
});
