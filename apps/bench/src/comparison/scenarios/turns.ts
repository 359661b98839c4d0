import type { Child } from "../../child.ts";
import { now } from "../../clock.ts";
import { summarize } from "../../measurement.ts";
import { cpuOf, medianOf, runPrompt, timedRequest } from "../../runs.ts";
import { runFloorPrompt, startFloor } from "../floors.ts";
import { startHost, turnTimes } from "../hosts.ts";
import { type Stage, scenario } from "../scenario.ts";
import { countSystemCalls } from "../system-calls.ts";

const PROMPTS = 20;

/** Short prompts, one after another. */
export const shortPrompts = scenario({
  rows: {
    "prompt-to-request": {
      what: "prompt written → model request received",
      peer: 0.5,
    },
    "prompt-cpu": { what: "CPU per short prompt", peer: 0.5 },
  },
  rounds: 7,
  warmUps: 2,
  host: async (stage, contestant) => {
    const host = await startHost(stage, contestant, []);
    return async () => {
      await host.request("new_session");
      return measurePrompts(stage, host, () => runPrompt(host));
    };
  },
  floor: async (stage) => {
    const floor = startFloor(stage, "sse-client");
    return () => measurePrompts(stage, floor, () => runFloorPrompt(floor, stage));
  },
});

async function measurePrompts({ server }: Stage, child: Child, prompt: () => Promise<void>) {
  await server.reply();
  const begun: number[] = [];
  const used = await cpuOf(child, async () => {
    for (let count = 0; count < PROMPTS; count++) {
      begun.push(now());
      await prompt();
    }
  });
  const exchanges = await server.exchanges();
  const waits = exchanges.map(({ arrived }, index) => arrived - (begun[index] ?? Number.NaN));
  return { "prompt-to-request": summarize(waits).median, "prompt-cpu": used / 1_000 / PROMPTS };
}

const [EARLY, WINDOW] = [10, 5];

/** A run in which the model reads a file repeatedly. */
export const readTurns = scenario({
  rows: {
    "read-turn-early": { what: "`read` turn, the 10th", peer: 0.5 },
    "read-turn-late": { what: "`read` turn, the 200th", peer: 0.5 },
    "read-turn-growth": { what: "`read` turn: the 200th to the 10th", unit: "×", most: 1.3 },
    "read-turn-cpu": { what: "`read` turn: CPU", peer: 0.4 },
  },
  rounds: 5,
  host: async (stage, contestant) => {
    // With session files, as in practice, because writing them is part of a turn.
    const host = await startHost(stage, contestant, []);
    const late = stage.isQuick ? 40 : 200;
    return async () => {
      await host.request("new_session");
      return measureTurns(stage, host, late, () => runPrompt(host));
    };
  },
  floor: async (stage) => {
    const floor = startFloor(stage, "sse-client");
    const late = stage.isQuick ? 40 : 200;
    const turns = late + WINDOW + 1;
    return () => measureTurns(stage, floor, late, () => runFloorPrompt(floor, stage, turns));
  },
});

const readCall = { tool: "read", argumentDeltas: ['{"path":', '"note.txt"}'] };

async function measureTurns(
  { server }: Stage,
  child: Child,
  late: number,
  prompt: () => Promise<void>,
) {
  const turns = late + WINDOW;
  await server.reply({ ...readCall, times: turns });
  const used = await cpuOf(child, prompt);
  const times = turnTimes(await server.exchanges());
  const around = (turn: number) => summarize(times.slice(turn - WINDOW, turn + WINDOW)).median;
  const [first, last] = [around(EARLY), around(late)];
  return {
    "read-turn-early": first,
    "read-turn-late": last,
    "read-turn-growth": last / first,
    "read-turn-cpu": used / 1_000 / turns,
  };
}

const COUNTED_TURNS = 50;

/** The system calls of the main thread in a turn. */
export const readTurnCalls = scenario({
  rows: {
    "read-turn-system-calls": { what: "`read` turn: system calls", unit: "calls", most: 20 },
  },
  rounds: 2,
  host: async (stage, contestant) => {
    const host = await startHost(stage, contestant, []);
    const turn = async () => {
      await stage.server.reply({ ...readCall, times: COUNTED_TURNS });
      await runPrompt(host);
    };
    return async () => {
      const calls = await countSystemCalls(host.pid, turn);
      return { "read-turn-system-calls": calls / COUNTED_TURNS };
    };
  },
  floor: async (stage) => {
    const floor = startFloor(stage, "sse-client");
    const turn = async () => {
      await stage.server.reply({ ...readCall, times: COUNTED_TURNS });
      await runFloorPrompt(floor, stage, COUNTED_TURNS + 1);
    };
    return async () => {
      const calls = await countSystemCalls(floor.pid, turn);
      return { "read-turn-system-calls": calls / COUNTED_TURNS };
    };
  },
});

const BASH_TURNS = 20;

/** The shortest command, run by the model and by the client. */
export const bashCalls = scenario({
  rows: {
    "bash-turn": { what: "`bash true` turn", peer: 0.7 },
    "bash-command": { what: "RPC `bash true`", peer: 0.7 },
  },
  rounds: 7,
  warmUps: 2,
  host: async (stage, contestant) => {
    const host = await startHost(stage, contestant, []);
    const { server } = stage;
    return async () => {
      await host.request("new_session");
      await server.reply({
        tool: "bash",
        argumentDeltas: ['{"command":"true"}'],
        times: BASH_TURNS,
      });
      await runPrompt(host);
      const turns = turnTimes(await server.exchanges());
      return {
        "bash-turn": summarize(turns).median,
        "bash-command": await medianBash(host),
      };
    };
  },
  floor: async (stage) => {
    const floor = startFloor(stage, "pipe-reader");
    return async () => ({ "bash-command": await medianBash(floor) });
  },
});

function medianBash(child: Child): Promise<number> {
  return medianOf(BASH_TURNS, () => timedRequest(child, "bash", { command: "true" }));
}
