import type { Child } from "../child.ts";
import { type BenchOptions, type Measurement, type Row, summarize } from "../measurement.ts";
import { ModelServer } from "../model-server.ts";
import { settled } from "../runs.ts";
import { Workspace } from "../workspace.ts";

const ACCEPTED_MS = 5;
/** Ends the stream eventually, even if a host never answers. */
const MOST_DELTAS = 100_000;
/** Four deltas per write: several thousand per second, more than any model produces. */
const PAUSE_MS = 1;

/** How long a client waits for `get_state` while a reply streams fast. */
export const getStateLatency: Measurement = {
  name: "get-state-latency",
  async run({ isQuick, hostCommand }: BenchOptions): Promise<Row[]> {
    await using server = await ModelServer.start();
    using workspace = new Workspace(server.baseUrl);
    const rows: Row[] = [];
    for (const stream of ["delta", "full"] as const) {
      const host = await workspace.startHost(hostCommand, { stream });
      const ask = (count: number) => askDuringReply(host, server, count);
      await ask(20);
      const waits = summarize(await ask(isQuick ? 50 : 300));
      await host.stop();
      rows.push({
        what: `get_state during a reply, ${stream}`,
        unit: "ms",
        host: waits,
        ratioOf: `median / ${ACCEPTED_MS} ms`,
        ratio: waits.median / ACCEPTED_MS,
        target: 1,
      });
    }
    return rows;
  },
};

/** Sends one request after another while a reply streams; returns the times in ms. */
async function askDuringReply(host: Child, server: ModelServer, count: number): Promise<number[]> {
  await host.request("new_session");
  let isDone = false;
  server.replies = [{ text: repeatUntil(() => isDone), pauseMs: PAUSE_MS }];
  const begun = host.next((frame) => frame.type === "message_start");
  const end = settled(host);
  await host.request("prompt", { message: "go" });
  await begun;
  const waits: number[] = [];
  while (waits.length < count) {
    const start = performance.now();
    const state = await host.request("get_state");
    waits.push(performance.now() - start);
    if (!(state as { isStreaming: boolean }).isStreaming) throw new Error("the reply has ended");
  }
  isDone = true;
  await end;
  return waits;
}

function* repeatUntil(isDone: () => boolean): Generator<string> {
  for (let count = 0; count < MOST_DELTAS && !isDone(); count++) yield "twelve chars";
}
