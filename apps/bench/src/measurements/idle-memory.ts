import { setTimeout as sleep } from "node:timers/promises";
import type { Child } from "../child.ts";
import { type BenchOptions, comparedRow, type Measurement, type Row } from "../measurement.ts";
import { Workspace } from "../workspace.ts";

const SETTLE_MS = 700;

/** Memory of a host that waits for its first command, compared with a Node that reads stdin. */
export const idleMemory: Measurement = {
  name: "idle-memory",
  async run({ isQuick, hostCommand }: BenchOptions): Promise<Row[]> {
    using workspace = new Workspace();
    const command = workspace.command(hostCommand, ["--no-session"]);
    const bareNode = [process.execPath, "-e", "process.stdin.resume()"] as const;
    const results = { host: [] as number[], floor: [] as number[] };
    for (let round = 0; round < (isQuick ? 2 : 6); round++) {
      results.floor.push(await measure(workspace.spawn(bareNode)));
      const child = workspace.spawn(command);
      await child.request("get_state");
      results.host.push(await measure(child));
    }
    const what = { what: "resident memory of an idle host", unit: "MiB" };
    const ratio = { ratioOf: "host / node reading stdin", by: "median", target: 1.6 } as const;
    return [comparedRow({ ...what, ...ratio }, results)];
  },
};

async function measure(child: Child): Promise<number> {
  await sleep(SETTLE_MS);
  const resident = child.residentMib();
  await child.stop();
  return resident;
}
