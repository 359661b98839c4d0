import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { type BenchOptions, type Measurement, type Row, summarize } from "../measurement.ts";
import { Workspace } from "../workspace.ts";

const floorReader = fileURLToPath(new URL("../floors/read-session.mjs", import.meta.url));

/** From spawn to the first answer with a session of many entries, against reading its lines. */
export const sessionLoad: Measurement = {
  name: "session-load",
  async run({ isQuick, hostCommand }: BenchOptions): Promise<Row[]> {
    using workspace = new Workspace();
    const rows: Row[] = [];
    for (const count of isQuick ? [1_000, 10_000] : [1_000, 10_000, 100_000]) {
      const path = join(workspace.cwd, `session-${count}.jsonl`);
      await pipeline(sessionLines(count, workspace.cwd), createWriteStream(path));
      const host: number[] = [];
      const floor: number[] = [];
      const peaks: number[] = [];
      const rounds = isQuick || count === 100_000 ? 3 : 6;
      for (let round = 0; round < rounds; round++) {
        floor.push((await load([process.execPath, floorReader, path], workspace)).elapsed);
        const loaded = await load(workspace.command(hostCommand, ["--session", path]), workspace);
        host.push(loaded.elapsed);
        peaks.push(loaded.peakMib);
      }
      const [hostSummary, floorSummary] = [summarize(host), summarize(floor)];
      rows.push({
        what: `session of ${count} entries, spawn to get_state`,
        unit: "ms",
        host: hostSummary,
        floor: floorSummary,
        ratioOf: "host / parsing its lines",
        ratio: hostSummary.min / floorSummary.min,
      });
      rows.push({
        what: `session of ${count} entries, peak memory`,
        unit: "MiB",
        host: summarize(peaks),
      });
    }
    return rows;
  },
};

async function load(command: readonly [string, ...string[]], workspace: Workspace) {
  const start = performance.now();
  const child = workspace.spawn(command);
  await child.request("get_state");
  const elapsed = performance.now() - start;
  const peakMib = child.peakMib();
  await child.stop();
  return { elapsed, peakMib };
}

function* sessionLines(count: number, cwd: string): Generator<string> {
  const timestamp = new Date(0).toISOString();
  const id = (index: number) => index.toString(16).padStart(8, "0");
  const line = (value: object) => `${JSON.stringify(value)}\n`;
  yield line({ type: "session", version: 3, id: "bench", timestamp, cwd });
  for (let index = 1; index <= count; index++) {
    const parentId = index === 1 ? null : id(index - 1);
    yield line({ type: "message", id: id(index), parentId, timestamp, message: message(index) });
  }
}

function message(index: number): object {
  const text = `Entry ${index}: ${"some words of a usual length, ".repeat(8)}`;
  if (index % 2 === 1) return { role: "user", content: text, timestamp: index };
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    api: "openai-completions",
    provider: "bench",
    model: "bench",
    usage: { input: 10, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: 20, cost },
    stopReason: "stop",
    timestamp: index,
  };
}
