import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { type BenchOptions, type Measurement, type Row, summarize } from "../measurement.ts";
import { sessionLines } from "../session-lines.ts";
import { Workspace } from "../workspace.ts";

const floorReader = fileURLToPath(new URL("../floors/read-session.mjs", import.meta.url));

/**
 * From spawn to the first response with a session of many entries, compared with reading its lines.
 */
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
