/**
 * Replays wire bytes through the vendors' SDKs. A case is a folder `<api>/__fixtures__/<case>`:
 * - `input.json`: `{provenance, model, context, options?, response?: {status, headers}}`; `model`
 *   needs an id, a provider and what differs from the defaults below.
 * - `stream.sse`, or `stream.bin` for a binary format: the response's bytes as received.
 * - `request.json` and `events.jsonl`: the expected request and events (without `partial`);
 *   rewritten by `vitest -u`, so read them before you commit.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import type { Context, StreamOptions } from "./provider.ts";
import { createStream, type StreamResult } from "./stream.ts";

interface Input {
  readonly provenance: string;
  readonly model: Pick<Model, "id" | "provider"> & Partial<Model>;
  readonly context: Context;
  readonly options?: StreamOptions;
  readonly response?: { readonly status?: number; readonly headers?: Record<string, string> };
}

interface Replay {
  readonly request: unknown;
  readonly events: readonly AssistantMessageEvent[];
  readonly result: StreamResult;
}

const defaults = {
  reasoning: false,
  input: ["text", "image"] as Model["input"],
  baseUrl: "https://vendor.invalid/v1",
  cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  contextWindow: 200_000,
  maxTokens: 8192,
};

function respond(pieces: readonly Uint8Array[], { response = {} }: Input): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const isError = (response.status ?? 200) >= 400;
  const type = isError ? "application/json" : "text/event-stream";
  return new Response(body, {
    status: response.status ?? 200,
    headers: { "content-type": type, ...response.headers },
  });
}

async function replay(api: string, input: Input, pieces: readonly Uint8Array[]): Promise<Replay> {
  let request: unknown;
  let calls = 0;
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    request = JSON.parse(String(init?.body));
    return respond(pieces, input);
  };
  const stream = createStream({ now: () => 0, createToolCallId: () => `call_${++calls}` });
  const model: Model = { api, name: input.model.id, ...defaults, ...input.model };
  const options = { apiKey: "key", ...input.options, fetch };
  const events: AssistantMessageEvent[] = [];
  const reply = stream(model, input.context, options);
  for (;;) {
    const next = await reply.next();
    if (next.done) return { request, events, result: next.value };
    events.push(next.value);
  }
}

function describeEvent(event: AssistantMessageEvent): string {
  const { partial: _, ...rest } = { partial: undefined, ...event };
  return JSON.stringify(rest);
}

const lines = ({ events }: Replay): string => `${events.map(describeEvent).join("\n")}\n`;

/** Splits the bytes at the end of each vendor event. */
function cutAtEvents(bytes: Buffer, isBinary: boolean): Buffer[] {
  return isBinary ? cutAtLengths(bytes) : cutAtEmptyLines(bytes);
}

/** Each message of an AWS event stream begins with its size. */
function cutAtLengths(bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  for (let from = 0; from + 4 <= bytes.length; ) {
    const end = from + bytes.readUInt32BE(from);
    pieces.push(bytes.subarray(from, end));
    from = end;
  }
  return pieces;
}

function cutAtEmptyLines(bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const { index, 0: end } of bytes.toString("latin1").matchAll(/\r?\n\r?\n/g)) {
    pieces.push(bytes.subarray(from, index + end.length));
    from = index + end.length;
  }
  if (from < bytes.length) pieces.push(bytes.subarray(from));
  return pieces;
}

function expectSnapshotsToHold({ events, result }: Replay): void {
  const streamed = new Map<number, string>();
  for (const event of events) {
    if (!("contentIndex" in event)) continue;
    const block = event.partial.content[event.contentIndex];
    if ("delta" in event) {
      const text = (streamed.get(event.contentIndex) ?? "") + event.delta;
      streamed.set(event.contentIndex, text);
      if (block?.type === "text") expect(block.text).toBe(text);
      if (block?.type === "thinking") expect(block.thinking).toBe(text);
    }
    if (event.type === "toolcall_end") expect(block).toEqual(event.toolCall);
    if (event.type === "text_end")
      expect(event.content).toBe(streamed.get(event.contentIndex) ?? "");
  }
  expect(events[0]).toMatchObject({ type: "start", partial: { content: [] } });
  const last = events.at(-1);
  expect(last?.type === "done" ? last.message : last?.type === "error" && last.error).toBe(
    result.message,
  );
}

const source = import.meta.dirname;
const apis = readdirSync(source, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => ({ api: name, folder: join(source, name, "__fixtures__") }))
  .flatMap(({ api, folder }) => {
    try {
      return [{ api, folder, cases: readdirSync(folder) }];
    } catch {
      return [];
    }
  });

describe.each(apis)("$api", ({ api, folder, cases }) => {
  describe.each(cases)("%s", (name) => {
    const path = join(folder, name);
    const input: Input = JSON.parse(readFileSync(join(path, "input.json"), "utf8"));
    const isBinary = existsSync(join(path, "stream.bin"));
    const bytes = readFileSync(join(path, isBinary ? "stream.bin" : "stream.sse"));

    it("sends the recorded request and yields the recorded events", async () => {
      expect(input.provenance).not.toBe("");
      const whole = await replay(api, input, [bytes]);
      const request = `${JSON.stringify(whole.request, null, 2)}\n`;
      await expect(request).toMatchFileSnapshot(join(path, "request.json"));
      await expect(lines(whole)).toMatchFileSnapshot(join(path, "events.jsonl"));
      expectSnapshotsToHold(whole);
    });

    it("yields the same events however the bytes are cut", async () => {
      const whole = lines(await replay(api, input, [bytes]));
      const single = [...bytes].map((byte) => Uint8Array.of(byte));
      expect(lines(await replay(api, input, single))).toBe(whole);
      expect(lines(await replay(api, input, cutAtEvents(bytes, isBinary)))).toBe(whole);
    });

    it("never accepts a truncated stream as a complete reply", async () => {
      const whole = await replay(api, input, [bytes]);
      if (whole.result.error !== undefined) return;
      const pieces = cutAtEvents(bytes, isBinary);
      for (let count = 0; count < pieces.length; count++) {
        const { result } = await replay(api, input, pieces.slice(0, count));
        if (result.error === undefined) {
          expect(result.message.content).toEqual(whole.result.message.content);
        } else {
          expect(result.error.isRetryable).toBe(true);
          expect(result.message.stopReason).toBe("error");
        }
      }
    });
  });
});
