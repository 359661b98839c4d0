import type { Child } from "../../child.ts";
import { now } from "../../clock.ts";
import { summarize } from "../../measurement.ts";
import type { ReplyPlan } from "../../remote-model-server.ts";
import { runPrompt, settled, timedRequest } from "../../runs.ts";
import { runFloorPrompt, startFloor } from "../floors.ts";
import { startHost } from "../hosts.ts";
import { type Stage, scenario } from "../scenario.ts";

const TEXT = "twelve chars";

/** A long text as fast as it is read. */
export const textStream = scenario({
  rows: {
    "text-stream-cpu": {
      what: "text stream of 16 000 deltas: CPU per delta",
      unit: "µs",
      peer: 0.3,
      floor: 2,
    },
  },
  rounds: 7,
  warmUps: 2,
  host: async (stage, contestant) => {
    const host = await startHost(stage, contestant);
    const count = stage.isQuick ? 4_000 : 16_000;
    return async () => ({
      "text-stream-cpu": await cpuPerDelta(stage, host, { text: TEXT, count }, count),
    });
  },
  floor: async (stage) => {
    const floor = startFloor(stage, "sse-client");
    const count = stage.isQuick ? 4_000 : 16_000;
    return async () => ({
      "text-stream-cpu": await cpuPerDelta(stage, floor, { text: TEXT, count }, count, true),
    });
  },
});

const ARGUMENT_DELTAS = 2_000;
const argumentDeltas = [
  '{"path":"out.txt","content":"',
  ...Array<string>(ARGUMENT_DELTAS - 2).fill(TEXT),
  '"}',
];

/** A tool call whose arguments come in many pieces. */
export const argumentStream = scenario({
  rows: {
    "argument-stream-cpu": {
      what: "arguments of a call in 2 000 deltas: CPU per delta",
      unit: "µs",
      peer: 0.3,
      floor: 2.5,
    },
  },
  rounds: 9,
  warmUps: 3,
  host: async (stage, contestant) => {
    const host = await startHost(stage, contestant);
    const call = { tool: "write", argumentDeltas };
    return async () => ({
      "argument-stream-cpu": await cpuPerDelta(stage, host, call, ARGUMENT_DELTAS),
    });
  },
  floor: async (stage) => {
    const floor = startFloor(stage, "sse-client");
    const call = { tool: "write", argumentDeltas };
    return async () => ({
      "argument-stream-cpu": await cpuPerDelta(stage, floor, call, ARGUMENT_DELTAS, true),
    });
  },
});

const PACE = { text: TEXT, pauseMs: 1, eventsPerWrite: 1 } as const;

/** The pace of a real model. */
export const pacedStream = scenario({
  rows: {
    "paced-cpu": { what: "one delta a millisecond: CPU per delta", unit: "µs", peer: 0.55 },
    "first-delta": {
      what: "first delta sent → first delta at the client",
      unit: "ms",
      peer: 0.7,
    },
    "last-byte": { what: "last byte sent → end at the client", unit: "ms", peer: 0.7 },
    "paced-abort": { what: "abort → response at that pace", unit: "ms", peer: 0.8 },
  },
  rounds: 9,
  warmUps: 2,
  host: async (stage, contestant) => {
    const host = await startHost(stage, contestant);
    return async () => {
      await host.request("new_session");
      const whole = await runPaced(stage, host, () => runPrompt(host));
      await host.request("new_session");
      return { ...whole, "paced-abort": await abortReply(stage, host) };
    };
  },
  floor: async (stage) => {
    const floor = startFloor(stage, "sse-client");
    return () => runPaced(stage, floor, () => runFloorPrompt(floor, stage));
  },
});

async function runPaced({ server }: Stage, host: Child, prompt: () => Promise<void>) {
  const count = 1_000;
  await server.reply({ ...PACE, count });
  const cpu = host.cpuMicroseconds();
  const firstDelta = host.nextDelta();
  await prompt();
  const used = host.cpuMicroseconds() - cpu;
  const [exchange] = await server.exchanges();
  return {
    "paced-cpu": used / count,
    "first-delta": (await firstDelta) - (exchange?.firstDelta ?? Number.NaN),
    "last-byte": host.lastFrameAt - (exchange?.ended ?? Number.NaN),
  };
}

/** Deltas that are not merged: Tau is asked not to, others never do. */
export const unmergedDeltas = scenario({
  rows: {
    "delta-delay": {
      what: "each delta sent → at the client, without merging, p50",
      unit: "ms",
      most: 1,
    },
  },
  rounds: 5,
  host: async (stage, contestant) => {
    const hello = contestant.hello && { ...contestant.hello, mergeMs: 0 };
    const host = await startHost(stage, { ...contestant, ...(hello && { hello }) });
    return async () => {
      await stage.server.reply({ stamps: 200, pauseMs: 3 });
      const delays: number[] = [];
      host.onUpdate = (line) => {
        const [, sent] = /"delta":"([\d.]+) "/.exec(line.toString()) ?? [];
        if (sent !== undefined) delays.push(now() - Number(sent));
      };
      await runPrompt(host);
      return { "delta-delay": summarize(delays).median };
    };
  },
});

async function abortReply({ server }: Stage, host: Child): Promise<number> {
  await server.reply({ ...PACE, count: 10_000 });
  const end = settled(host);
  const delta = host.nextDelta();
  await host.request("prompt", { message: "go" });
  await delta;
  await new Promise((resolve) => setTimeout(resolve, 200));
  const elapsed = await timedRequest(host, "abort");
  await end;
  return elapsed;
}

async function cpuPerDelta(
  { server }: Stage,
  child: Child,
  plan: ReplyPlan,
  count: number,
  isFloor = false,
): Promise<number> {
  if (!isFloor) await child.request("new_session");
  await server.reply(plan);
  const cpu = child.cpuMicroseconds();
  if (isFloor) {
    const end = settled(child);
    child.send({ url: server.baseUrl });
    await end;
  } else {
    await runPrompt(child);
  }
  return (child.cpuMicroseconds() - cpu) / count;
}
