import { fileURLToPath } from "node:url";
import type { Child } from "../child.ts";
import { type BenchOptions, comparedRow, type Measurement, type Row } from "../measurement.ts";
import { ModelServer } from "../model-server.ts";
import { runPrompt } from "../runs.ts";
import { Workspace } from "../workspace.ts";

const MIB = 1024 * 1024;
const pipeReader = fileURLToPath(new URL("../floors/pipe-reader.mjs", import.meta.url));

/** Peak memory of a host while a command prints a lot, compared with one that prints little. */
export const bashMemory: Measurement = {
  name: "bash-memory",
  async run({ isQuick, hostCommand }: BenchOptions): Promise<Row[]> {
    await using server = await ModelServer.start();
    using workspace = new Workspace(server.baseUrl);
    const large = 200;
    // Not smaller: the buffers of any Node process that reads a pipe grow during the first few MiB.
    const small = large / 8;
    const byCommand = async (host: Child, mib: number) => {
      await host.request("bash", { command: printing(mib) });
    };
    const byTool = async (host: Child, mib: number) => {
      const argumentDeltas = [JSON.stringify({ command: printing(mib) })];
      server.replies = [{ tool: "bash", argumentDeltas }];
      await runPrompt(host);
    };
    const rows: Row[] = [];
    for (const [name, run] of Object.entries({ "bash command": byCommand, "bash tool": byTool })) {
      const peaks = { small: [] as number[], large: [] as number[], floor: [] as number[] };
      for (let round = 0; round < (isQuick ? 1 : 3); round++) {
        const floor = workspace.spawn([process.execPath, pipeReader]);
        await byCommand(floor, large);
        peaks.floor.push(floor.peakMib());
        await floor.stop();
        for (const [size, mib] of [
          ["small", small],
          ["large", large],
        ] as const) {
          const host = await workspace.startHost(hostCommand, { stream: "delta" });
          await run(host, mib);
          peaks[size].push(host.peakMib());
          await host.stop();
        }
      }
      const peak = { what: `${name}, ${large} MiB of output: peak memory`, unit: "MiB" };
      const growth = { what: `${name}: growth`, unit: "MiB", target: 1.3 };
      rows.push(
        comparedRow(
          { ...peak, ratioOf: "host / reading and forgetting" },
          { host: peaks.large, floor: peaks.floor },
        ),
        comparedRow(
          { ...growth, ratioOf: `${large} MiB / ${small} MiB` },
          { host: peaks.large, floor: peaks.small },
        ),
      );
    }
    return rows;
  },
};

function printing(mib: number): string {
  return `yes 'a line of some length, as a build would print it' | head -c ${mib * MIB}`;
}
