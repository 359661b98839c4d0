import { setTimeout as sleep } from "node:timers/promises";
import type { Child } from "../child.ts";
import { type BenchOptions, type Measurement, type Row, summarize } from "../measurement.ts";
import { Workspace } from "../workspace.ts";

const SETTLE_MS = 700;

/** Memory of a host that waits for its first command, compared with a Node that reads stdin. */
export const idleMemory: Measurement = {
  name: "idle-memory",
  async run({ isQuick, hostCommand }: BenchOptions): Promise<Row[]> {
    using workspace = new Workspace();
    const command = workspace.command(hostCommand, ["--no-session"]);
    const bareNode = [process.execPath, "-e", "process.stdin.resume()"] as const;
    const host: number[] = [];
    const floor: number[] = [];
    for (let round = 0; round < (isQuick ? 2 : 6); round++) {
      floor.push(await measure(workspace.spawn(bareNode)));
      const child = workspace.spawn(command);
      await child.request("get_state");
      host.push(await measure(child));
    }
    const [hostSummary, floorSummary] = [summarize(host), summarize(floor)];
    return [
      {
        what: "resident memory of an idle host",
        unit: "MiB",
        host: hostSummary,
        floor: floorSummary,
        ratioOf: "host / node reading stdin",
        ratio: hostSummary.median / floorSummary.median,
        target: 1.6,
      },
    ];
  },
};

async function measure(child: Child): Promise<number> {
  await sleep(SETTLE_MS);
  const resident = child.residentMib();
  await child.stop();
  return resident;
}
