import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { createStream, type Model, type StreamResult } from "@tau-agent/ai";
import { describe, expect, it } from "vitest";
import { mutations } from "./recorded-mutations.ts";
import { type Reading, type Wire, wires } from "./recorded-reply.ts";

const folder = join(import.meta.dirname, "recorded");

function linesOf(path: string): string[] {
  const lines = gunzipSync(readFileSync(path)).toString("utf8").split("\n");
  return lines.filter((line) => line.trim() !== "");
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** The replies of a recording, each as a list of chunks. */
function repliesOf(path: string, wire: Wire): unknown[][] {
  const replies: unknown[][] = [[]];
  for (const line of linesOf(path)) {
    const chunk: unknown = JSON.parse(line);
    if (wire.begins(chunk, replies.at(-1) ?? [])) replies.push([]);
    replies.at(-1)?.push(chunk);
  }
  return replies;
}

function play(wire: Wire, chunks: readonly unknown[]): Promise<StreamResult> {
  const events = chunks.map((chunk) => {
    const { type } = chunk as { type?: string };
    return `${type === undefined ? "" : `event: ${type}\n`}data: ${JSON.stringify(chunk)}\n\n`;
  });
  return playBytes(wire, events.join(""));
}

async function playBytes({ api }: Wire, body: string): Promise<StreamResult> {
  const model: Model = {
    id: "m",
    name: "M",
    api,
    provider: "p",
    baseUrl: "https://vendor.invalid/v1",
    reasoning: true,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 2_000_000,
    maxTokens: 8000,
  };
  const fetch = async () =>
    new Response(body, { headers: { "content-type": "text/event-stream" } });
  const context = { messages: [{ role: "user" as const, content: "Hi", timestamp: 1 }] };
  const reply = createStream()(model, context, { apiKey: "k", fetch });
  for (;;) {
    const next = await reply.next();
    if (next.done) return next.value;
  }
}

function readingOf({ message: { content, usage, stopReason } }: StreamResult): Reading {
  const textOf = (type: "text" | "thinking") =>
    content
      .map((block) => {
        if (block.type !== type) return "";
        return block.type === "text" ? block.text : block.type === "thinking" ? block.thinking : "";
      })
      .join("");
  return {
    text: textOf("text"),
    thinking: textOf("thinking"),
    calls: content.flatMap((block) =>
      block.type === "toolCall"
        ? [{ id: block.id, name: block.name, arguments: block.arguments }]
        : [],
    ),
    input: usage.input + usage.cacheRead + usage.cacheWrite,
    output: usage.output,
    stop: stopReason === "aborted" ? "error" : stopReason,
  };
}

/** The reading without generated ids: the package creates one if a vendor gives none. */
function withGivenIds(reading: Reading, plain: Reading): Reading {
  const calls = reading.calls.map((call, index) => {
    const isGiven = plain.calls[index]?.id !== undefined || call.id === "";
    return isGiven ? call : { ...call, id: undefined };
  });
  return { ...reading, calls };
}

describe.each(Object.entries(wires))("recorded streams: %s", (name, wire) => {
  const all = readdirSync(join(folder, name));
  const files = all.filter((file) => linesOf(join(folder, name, file)).every(isJson));

  it.each(files)("%s is read like by the simple reader", async (file) => {
    for (const chunks of repliesOf(join(folder, name, file), wire)) {
      const plain = wire.read(chunks);
      expect(withGivenIds(readingOf(await play(wire, chunks)), plain)).toEqual(plain);
    }
  });

  it("fail with a retryable error if a line is not JSON", async () => {
    for (const file of all.filter((name) => !files.includes(name))) {
      const lines = linesOf(join(folder, name, file));
      const { error } = await playBytes(wire, lines.map((line) => `data: ${line}\n\n`).join(""));
      expect(error?.isRetryable).toBe(true);
    }
    expect(all.length - files.length).toBe(name === "responses" ? 1 : 0);
  });

  it.each(mutations)("differ from the simple reading when $name is changed", async (mutation) => {
    const { applies, change, seen } = mutation;
    let count = 0;
    for (const file of files) {
      for (const chunks of repliesOf(join(folder, name, file), wire)) {
        const plain = wire.read(chunks);
        if (!applies(plain)) continue;
        count++;
        const reading = withGivenIds(readingOf(await play(wire, change(chunks))), plain);
        expect(seen(reading), file).not.toEqual(seen(plain));
      }
    }
    // In these recordings, Google's calls have no ids.
    const isThere = name !== "google" || mutation.name !== "the id of a call";
    expect(count > 0).toBe(isThere);
  });

  it("fail if their end is missing", async () => {
    for (const file of files) {
      for (const chunks of repliesOf(join(folder, name, file), wire)) {
        const cut = await play(wire, chunks.slice(0, Math.floor(chunks.length / 2)));
        expect(cut.message.stopReason).toBe("error");
      }
    }
  });
});
