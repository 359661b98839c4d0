import type { Child } from "../../child.ts";
import { summarize } from "../../measurement.ts";
import { medianOf, settled, timed, timedRequest } from "../../runs.ts";
import { startFloor } from "../floors.ts";
import { startHost } from "../hosts.ts";
import { type Stage, scenario } from "../scenario.ts";

const BURST = 2_000;

/** Commands while nothing runs. */
export const idleCommands = scenario({
  rows: {
    "get-state-idle": { what: "get_state idle, p50", peer: 0.8 },
    "get-state-burst": { what: "2 000 get_state in one write, per command", unit: "µs", peer: 0.8 },
  },
  rounds: 9,
  warmUps: 3,
  host: async (stage, contestant) => {
    const host = await startHost(stage, contestant);
    return () => askIdle(host);
  },
  floor: async (stage) => {
    const floor = startFloor(stage, "answer-commands");
    return () => askIdle(floor);
  },
});

async function askIdle(child: Child) {
  const idle = await medianOf(300, () => timedRequest(child, "get_state"));
  const last = child.next((frame) => frame.id === BURST - 1);
  const lines = Array.from({ length: BURST }, (_, id) => JSON.stringify({ id, type: "get_state" }));
  const wall = await timed(() => {
    child.write(`${lines.join("\n")}\n`);
    return last;
  });
  return { "get-state-idle": idle, "get-state-burst": (wall * 1_000) / BURST };
}

/** Commands during a reply that streams as fast as it is read. */
export const commandsUnderStream = scenario({
  rows: {
    "get-state-under-stream": {
      what: "get_state under a full-speed stream, p50",
      peer: 0.8,
    },
    "abort-under-stream": { what: "abort → response under it", peer: 0.8 },
  },
  rounds: 5,
  host: async (stage, contestant) => {
    const host = await startHost(stage, contestant);
    return () => askUnderStream(stage, host);
  },
});

/** More than any host reads in the available time; the abort ends the reply. */
const ENDLESS = 400_000;

async function askUnderStream({ server, isQuick }: Stage, host: Child) {
  await host.request("new_session");
  await server.reply({ text: "twelve chars", count: ENDLESS });
  const end = settled(host);
  const delta = host.nextDelta();
  await host.request("prompt", { message: "go" });
  await delta;
  const waits: number[] = [];
  for (let count = 0; count < (isQuick ? 5 : 20); count++) {
    const start = performance.now();
    const state = (await host.request("get_state")) as { isStreaming: boolean };
    waits.push(performance.now() - start);
    if (!state.isStreaming) throw new Error("the reply has ended");
  }
  const aborted = await timedRequest(host, "abort");
  await end;
  return { "get-state-under-stream": summarize(waits).median, "abort-under-stream": aborted };
}
