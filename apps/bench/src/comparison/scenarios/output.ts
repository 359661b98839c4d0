import { setTimeout as sleep } from "node:timers/promises";
import type { Child } from "../../child.ts";
import { timedRequest } from "../../runs.ts";
import { startFloor } from "../floors.ts";
import { startHost } from "../hosts.ts";
import { scenario } from "../scenario.ts";

const MIB = 1024 * 1024;
const PAUSE_MS = 5_000;

/** A client that stops reading in the middle of a long reply. */
export const pausedReader = scenario({
  rows: {
    "paused-memory": {
      what: "paused reader: resident memory after 5 s of a full-speed stream",
      unit: "MiB",
      peer: 0.5,
    },
  },
  rounds: 3,
  warmUps: 0,
  host: async (stage, contestant) => async () => {
    const host = await startHost(stage, contestant);
    await stage.server.reply({ text: "twelve chars", count: 1_000_000 });
    const delta = host.nextDelta();
    await host.request("prompt", { message: "go" });
    await delta;
    host.pause();
    await sleep(stage.isQuick ? 1_000 : PAUSE_MS);
    const memory = host.residentMib();
    host.kill();
    return { "paused-memory": memory };
  },
});

const OUTPUT_MIB = 200;

/** A command that prints a lot. */
export const largeOutput = scenario({
  rows: {
    "large-output": { what: "RPC `bash` that prints 200 MiB: wall", peer: 1 },
    "large-output-memory": { what: "the same: peak memory", unit: "MiB", peer: 0.6 },
  },
  rounds: 3,
  warmUps: 0,
  host: async (stage, contestant) => async () => {
    const host = await startHost(stage, contestant);
    const values = await printMuch(host, stage.isQuick);
    await host.stop();
    return values;
  },
  floor: async (stage) => async () => {
    const floor = startFloor(stage, "pipe-reader");
    const values = await printMuch(floor, stage.isQuick);
    await floor.stop();
    return values;
  },
});

async function printMuch(child: Child, isQuick: boolean) {
  const bytes = (isQuick ? 20 : OUTPUT_MIB) * MIB;
  const command = `yes 'a line of some length, as a build would print it' | head -c ${bytes}`;
  const elapsed = await timedRequest(child, "bash", { command });
  return { "large-output": elapsed, "large-output-memory": child.peakMib() };
}
