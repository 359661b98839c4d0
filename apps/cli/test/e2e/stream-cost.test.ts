import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import {
  loopbackApis,
  type ScenarioFunction,
  startLoopbackServer,
  toolCall,
} from "@tau-agent/ai/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { runsWhole, slice } from "../../../../scripts/testing/slice.ts";
import { type StartOptions, startHost } from "../support/start-host.ts";
import type { Frame } from "../support/test-client.ts";

const DELTAS = 16_000;
const LEANEST_API = "anthropic-messages";

interface Reply {
  readonly api: (typeof loopbackApis)[number];
  readonly deltas?: number;
  /** The size of each delta, in characters. */
  readonly size?: number;
  readonly delayMs?: number;
}

/** A host with a server of one wire format that streams a long reply to each prompt. */
async function startStreaming(
  { api, deltas = DELTAS, size = 12, delayMs = 0 }: Reply,
  before?: ScenarioFunction,
  options: StartOptions = {},
) {
  const text = { type: "text" as const, text: "x".repeat(size * deltas), chunkSize: size };
  const server = await startLoopbackServer({
    scenario: (view) => before?.(view) ?? { content: [text], delayMs },
  });
  onTestFinished(() => server.close());
  // Large enough that no reply is compacted, because a compaction would repeat it.
  const models = [{ id: "scripted", contextWindow: 4_000_000 }];
  const providers = { loopback: { baseUrl: server.urls[api], api, apiKey: "none", models } };
  const host = startHost(
    {
      files: { "agent/models.json": JSON.stringify({ providers }) },
      arguments: ["--provider", "loopback", "--model", "scripted"],
    },
    options,
  );
  return { server, host };
}

/** The number of bytes that a host wrote for a reply in delta form, and that the vendor sent for it. */
async function measure(reply: Reply) {
  const { server, host } = await startStreaming(reply);
  host.send({ type: "initialize", stream: "delta" });
  host.send({ type: "prompt", message: "go" });
  await host.until({ "...": true, type: "agent_settled" });
  const [request] = server.requests;
  const again = await fetch(`${server.url}${request?.path}`, {
    method: "POST",
    body: JSON.stringify(request?.body),
  });
  const sent = (await again.arrayBuffer()).byteLength;
  return { sent, written: Buffer.byteLength(host.stdout) };
}

describe("16 000 deltas", () => {
  it.each<Reply>([
    ...slice(
      loopbackApis.map((api): Reply => ({ api, size: 12 })),
      3,
    ),
    ...slice([4, 24, 36], 1).map((size): Reply => ({ api: LEANEST_API, size })),
    // At this pace, 16 000 deltas take two minutes; the first few are enough to measure the cost of each.
    ...(runsWhole ? [{ api: LEANEST_API, size: 20, deltas: 600, delayMs: 8 } as const] : []),
  ])("cost at most 1.3 × the vendor's bytes in delta form: %o", async (reply) => {
    const { sent, written } = await measure(reply);
    expect(sent).toBeGreaterThan((reply.deltas ?? DELTAS) * 100);
    expect(written).toBeLessThan(sent * 1.3);
  });

  it.each([
    { mergeMs: 0, form: "delta" },
    { mergeMs: 100, form: "delta" },
  ])("are sent separately or merged, as the client requests: %o", async ({ mergeMs, form }) => {
    const { host } = await startStreaming({ api: LEANEST_API, deltas: 100, delayMs: 2 });
    host.send({ type: "initialize", stream: form, mergeMs });
    host.send({ type: "prompt", message: "go" });
    await host.until({ "...": true, type: "agent_settled" });
    const frames = host.stdout.match(/"type":"text_delta"/g)?.length ?? 0;
    if (mergeMs === 0) expect(frames).toBe(100);
    else expect(frames).toBeLessThan(50);
  });

  it("cause at most 60 frames per second in the full form, and leave no memory behind", async () => {
    const { host } = await startStreaming({ api: LEANEST_API });
    const peaks: number[] = [];
    for (let round = 0; round < 4; round++) {
      const from = host.stdout.length;
      const start = performance.now();
      host.send({ type: "prompt", message: "go" });
      await host.until({ "...": true, type: "agent_settled" });
      const seconds = (performance.now() - start) / 1_000;
      const frames = host.stdout.slice(from).match(/^\{"type":"message_update"/gm)?.length ?? 0;
      // The start, first delta and end of a block are never held back.
      expect(frames - 3).toBeLessThanOrEqual(60 * seconds);
      expect(frames).toBeGreaterThan(3);
      host.send({ type: "new_session", id: round });
      await host.until({ "...": true, command: "new_session", success: true });
      peaks.push(residentBytes(host.child.pid));
    }
    if (process.platform === "linux") {
      expect(peaks.at(-1)).toBeLessThan((peaks[1] ?? 0) + 64 * 1024 * 1024);
    }
  });
});

describe("a client that stops reading", () => {
  // This process sends one delta for each 64 KiB that it reads, and the full form is long.
  const replies = [
    ["delta", { deltas: 300_000, size: 12 }],
    ["full", { deltas: 10_000, size: 360 }],
  ] as const;
  it.each(slice(replies, 1))(
    "delays the reply and receives all of it, in %s",
    async (stream, { deltas, size }) => {
      const reply = { api: LEANEST_API, deltas, size } as const;
      const { host } = await startStreaming(reply, undefined, { keepsOutput: false });
      let received = 0;
      const countTo = async (isLast: (frame: Frame) => boolean): Promise<void> => {
        for (let isOver = false; !isOver; ) {
          const frame = await host.frames.next();
          const event = frame?.assistantMessageEvent as Frame | undefined;
          if (event?.type === "text_delta") received += String(event.delta).length;
          isOver = frame === undefined || isLast(frame);
        }
      };
      host.send({ type: "initialize", stream });
      host.send({ type: "prompt", message: "go" });
      await countTo(({ type }) => type === "message_update");
      host.child.stdout.pause();
      host.send({ id: "meanwhile", type: "get_state" });
      await setTimeout(2_500);
      // Without backpressure, the reply would be complete by now and use twice the memory.
      if (process.platform === "linux") {
        expect(residentBytes(host.child.pid)).toBeLessThan(180 * 1024 * 1024);
      }
      host.child.stdout.resume();
      await countTo(({ id, success }) => id === "meanwhile" && success === true);
      await countTo(({ type }) => type === "agent_settled");
      expect(received).toBe(deltas * size);
    },
  );
});

it("a client that stops reading also slows down a subagent", async () => {
  const turns = 8;
  let replies = 0;
  const { server, host } = await startStreaming(
    { api: LEANEST_API, deltas: 1 },
    ({ lastUserText, toolResults }) => {
      if (lastUserText === "go") {
        const task = toolCall("task", { task: "write" });
        return toolResults.length > 0 ? "Done." : { content: [task] };
      }
      // Each reply but the last far exceeds the capacity of pipes and ends with a call.
      const text = { type: "text" as const, text: "x".repeat(500_000), chunkSize: 1_000 };
      replies += 1;
      return replies <= turns ? { content: [text, toolCall("ls", {})] } : "Written.";
    },
  );
  host.send({ type: "initialize", stream: "delta" });
  host.send({ type: "set_subagent_subscription", level: "all" });
  host.send({ type: "prompt", message: "go" });
  const event = { "...": true, type: "message_update" };
  await host.until({ "...": true, type: "subagent_event", event });
  host.child.stdout.pause();
  host.send({ id: "meanwhile", type: "get_state" });
  let before = -1;
  while (before !== server.requests.length) {
    before = server.requests.length;
    await setTimeout(1_500);
  }
  expect(before).toBeLessThan(turns);
  host.child.stdout.resume();
  await host.until({ "...": true, id: "meanwhile", success: true });
  await host.until({ "...": true, type: "agent_settled" });
  expect(server.requests.length).toBe(turns + 3);
});

function residentBytes(pid: number | undefined): number {
  if (process.platform !== "linux") return 0;
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1]) * 1024;
}
