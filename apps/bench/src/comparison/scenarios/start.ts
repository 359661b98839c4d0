import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Child } from "../../child.ts";
import { now } from "../../clock.ts";
import { runPrompt, timed } from "../../runs.ts";
import { runFloorPrompt, startFloor } from "../floors.ts";
import { startHost } from "../hosts.ts";
import { type Stage, scenario } from "../scenario.ts";

/** From spawn to the first response. */
export const start = scenario({
  rows: {
    start: { what: "spawn → first get_state", peer: 0.3, floor: 1.8 },
    "start-memory": { what: "resident memory after start", unit: "MiB", peer: 0.6 },
  },
  rounds: 15,
  host: async (stage, contestant) => async () => {
    const begun = now();
    const host = await startHost(stage, contestant);
    const elapsed = now() - begun;
    const memory = host.residentMib();
    await host.stop();
    return { start: elapsed, "start-memory": memory };
  },
  floor: async () => async () => ({ start: await bareNode() }),
});

/** The same without code compiled by earlier starts, as in a fresh container. */
export const startUncached = scenario({
  rows: {
    "start-uncached": {
      what: "start without the compile cache (a fresh container)",
      peer: 0.13,
    },
  },
  rounds: 9,
  host: async (stage, contestant) => async () => {
    const { workspace } = stage;
    const cache = mkdtempSync(join(workspace.cwd, "..", "cache-"));
    const fresh = { cwd: workspace.cwd, env: { ...workspace.env, NODE_COMPILE_CACHE: cache } };
    const command = workspace.command(contestant.command, ["--no-session"]);
    const begun = now();
    const host = workspace.spawn(command, fresh.env);
    await host.request("get_state");
    const elapsed = now() - begun;
    await host.stop();
    return { "start-uncached": elapsed };
  },
  floor: async () => async () => ({ "start-uncached": await bareNode() }),
});

/** The whole life of a host: start and one prompt. */
export const firstPrompt = scenario({
  rows: {
    "first-prompt": { what: "spawn → end of a first prompt", peer: 0.4 },
    "first-prompt-memory": { what: "resident memory after one prompt", unit: "MiB", peer: 0.55 },
  },
  rounds: 11,
  host: async (stage, contestant) => async () => {
    const begun = now();
    const host = stage.workspace.spawn(
      stage.workspace.command(contestant.command, ["--no-session"]),
    );
    if (contestant.hello) host.send(contestant.hello);
    await runPrompt(host);
    const elapsed = now() - begun;
    const memory = host.residentMib();
    await host.stop();
    return { "first-prompt": elapsed, "first-prompt-memory": memory };
  },
  floor: async (stage) => async () => {
    const begun = now();
    const floor = startFloor(stage, "sse-client");
    await runFloorPrompt(floor, stage);
    const elapsed = now() - begun;
    const memory = floor.residentMib();
    await floor.stop();
    return { "first-prompt": elapsed, "first-prompt-memory": memory };
  },
});

const EIGHT = 8;
const DELTAS = 1_000;

/** Eight hosts on one machine, each with a prompt at the same time. */
export const eightHosts = scenario({
  rows: {
    "eight-hosts-start": {
      what: "8 hosts at once, spawn → all have answered",
      peer: 0.3,
    },
    "eight-hosts-wall": {
      what: "8 hosts, a prompt of 1 000 deltas to all: wall",
      peer: 0.5,
    },
    "eight-hosts-cpu": {
      what: "8 hosts, a prompt of 1 000 deltas to all: CPU",
      peer: 0.5,
    },
    "eight-hosts-memory": { what: "8 hosts after it: sum of PSS", unit: "MiB", peer: 0.4 },
  },
  rounds: 5,
  host: async (stage, contestant) => async () => {
    const begun = now();
    const hosts = await Promise.all(times(EIGHT, () => startHost(stage, contestant)));
    const started = now() - begun;
    const rest = await promptAll(stage, hosts, runPrompt);
    return { "eight-hosts-start": started, ...rest };
  },
  floor: async (stage) => async () => {
    const hosts = times(EIGHT, () => startFloor(stage, "sse-client"));
    return promptAll(stage, hosts, (host) => runFloorPrompt(host, stage));
  },
});

async function promptAll(
  { server }: Stage,
  hosts: readonly Child[],
  prompt: (host: Child) => Promise<void>,
) {
  await server.reply({ text: "twelve chars", count: DELTAS, times: EIGHT });
  const cpu = () => sum(hosts.map((host) => host.cpuMicroseconds())) / 1_000;
  const before = cpu();
  const wall = await timed(() => Promise.all(hosts.map(prompt)));
  const values = {
    "eight-hosts-wall": wall,
    "eight-hosts-cpu": cpu() - before,
    "eight-hosts-memory": sum(hosts.map((host) => host.proportionalMib())),
  };
  await Promise.all(hosts.map((host) => host.stop()));
  return values;
}

function bareNode(): Promise<number> {
  return timed(() => once(spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit"));
}

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
