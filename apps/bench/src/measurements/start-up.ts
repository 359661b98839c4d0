import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Child } from "../child.ts";
import { type BenchOptions, type Measurement, type Row, summarize } from "../measurement.ts";
import { Workspace } from "../workspace.ts";

/** From spawn to the first response, compared with a Node that does nothing. */
export const startUp: Measurement = {
  name: "start-up",
  async run({ isQuick, hostCommand }: BenchOptions): Promise<Row[]> {
    using workspace = new Workspace();
    const command = workspace.command(hostCommand, ["--no-session"]);
    await timeHost(command, workspace);
    const host: number[] = [];
    const floor: number[] = [];
    for (let round = 0; round < (isQuick ? 5 : 20); round++) {
      floor.push(await timeBareNode());
      host.push(await timeHost(command, workspace));
    }
    const [hostSummary, floorSummary] = [summarize(host), summarize(floor)];
    return [
      {
        what: "spawn to first get_state answer",
        unit: "ms",
        host: hostSummary,
        floor: floorSummary,
        ratioOf: "host / node -e 0",
        ratio: hostSummary.median / floorSummary.median,
        target: 1.8,
      },
    ];
  },
};

export const eightHosts: Measurement = {
  name: "eight-hosts",
  async run({ isQuick, hostCommand }: BenchOptions): Promise<Row[]> {
    using workspace = new Workspace();
    const command = workspace.command(hostCommand, ["--no-session"]);
    const eight = (start: () => Promise<unknown>) => Promise.all(Array.from({ length: 8 }, start));
    const host: number[] = [];
    const floor: number[] = [];
    for (let round = 0; round < (isQuick ? 2 : 6); round++) {
      floor.push(await time(() => eight(timeBareNode)));
      const children: Child[] = [];
      host.push(await time(() => eight(() => firstAnswer(command, workspace, children))));
      await Promise.all(children.map((child) => child.stop()));
    }
    const [hostSummary, floorSummary] = [summarize(host), summarize(floor)];
    return [
      {
        what: "until eight hosts started at once have answered",
        unit: "ms",
        host: hostSummary,
        floor: floorSummary,
        ratioOf: "host / node -e 0",
        ratio: hostSummary.median / floorSummary.median,
      },
    ];
  },
};

type Command = readonly [string, ...string[]];

async function timeHost(command: Command, workspace: Workspace): Promise<number> {
  const children: Child[] = [];
  const elapsed = await time(() => firstAnswer(command, workspace, children));
  await Promise.all(children.map((child) => child.stop()));
  return elapsed;
}

async function firstAnswer(command: Command, workspace: Workspace, started: Child[]) {
  const child = workspace.spawn(command);
  started.push(child);
  await child.request("get_state");
}

function timeBareNode(): Promise<number> {
  return time(() => once(spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit"));
}

async function time(action: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await action();
  return performance.now() - start;
}
