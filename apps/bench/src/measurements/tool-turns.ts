import { fileURLToPath } from "node:url";
import type { Child } from "../child.ts";
import { type BenchOptions, type Measurement, type Row, summarize } from "../measurement.ts";
import { ModelServer, type Reply } from "../model-server.ts";
import { Workspace } from "../workspace.ts";

const floorClient = fileURLToPath(new URL("../floors/sse-client.mjs", import.meta.url));
const EARLY = 10;
const WINDOW = 5;

/** Time from one request to the next while the model calls a tool each time. */
export const toolTurns: Measurement = {
  name: "tool-turns",
  async run({ isQuick, hostCommand }: BenchOptions): Promise<Row[]> {
    const late = isQuick ? 60 : 200;
    await using server = await ModelServer.start();
    using workspace = new Workspace(server.baseUrl);
    const floor = workspace.spawn([process.execPath, floorClient]);
    // With a session file, as users have it, because writing it is part of a turn.
    const host = await workspace.startHost(hostCommand, { stream: "delta", args: [] });
    const turns = late + WINDOW + 1;
    const runFloor = () =>
      runTurns(server, turns, floor, () => floor.send({ url: server.baseUrl, turns }));
    const runHost = async () => {
      await host.request("new_session");
      return runTurns(server, turns, host, () => void host.request("prompt", { message: "go" }));
    };
    // The first runs compile code, which would make early turns look slow.
    await runFloor();
    await runHost();
    const results = { floor: [] as number[][], host: [] as number[][] };
    for (let round = 0; round < (isQuick ? 2 : 9); round++) {
      results.floor.push(await runFloor());
      results.host.push(await runHost());
    }
    await Promise.all([floor.stop(), host.stop()]);
    const at = (runs: number[][], turn: number) =>
      summarize(runs.map((run) => summarize(run.slice(turn - WINDOW, turn + WINDOW)).median));
    const row = (turn: number): Row => ({
      what: `tool turn at turn ${turn}`,
      unit: "ms",
      host: at(results.host, turn),
      floor: at(results.floor, turn),
      ratioOf: "host / minimal client",
      ratio: at(results.host, turn).min / at(results.floor, turn).min,
    });
    const growth: Row = {
      what: "tool turn: growth",
      unit: "ms",
      host: at(results.host, late),
      floor: at(results.host, EARLY),
      ratioOf: `turn ${late} / turn ${EARLY}`,
      ratio: at(results.host, late).min / at(results.host, EARLY).min,
      target: 1.3,
    };
    return [row(EARLY), row(late), growth];
  },
};

async function runTurns(
  server: ModelServer,
  turns: number,
  child: Child,
  start: () => void,
): Promise<number[]> {
  const call: Reply = { tool: "read", argumentDeltas: ['{"path":', '"note.txt"}'] };
  server.replies = Array.from({ length: turns }, () => call);
  server.exchanges.length = 0;
  const settled = child.next((frame) => frame.type === "agent_settled");
  start();
  await settled;
  const times = server.exchanges.map(({ arrived }) => arrived);
  return times.slice(1).map((time, index) => time - (times[index] ?? time));
}
