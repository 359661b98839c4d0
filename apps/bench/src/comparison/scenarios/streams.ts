import type { Child } from "../../child.ts";
import { now } from "../../clock.ts";
import { summarize } from "../../measurement.ts";
import type { ReplyPlan } from "../../remote-model-server.ts";
import { cpuOf, runPrompt, settled, timedRequest } from "../../runs.ts";
import { runFloorPrompt, startFloor } from "../floors.ts";
import { startHost } from "../hosts.ts";
import { type Scenario, type Stage, scenario } from "../scenario.ts";

const TEXT = "twelve chars";

/** A long text that streams as fast as it is read. */
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
  ...cpuOfReply("text-stream-cpu", ({ isQuick }) => {
    const count = isQuick ? 4_000 : 16_000;
    return { plan: { text: TEXT, count }, count };
  }),
});

const ARGUMENT_DELTAS = 2_000;
const argumentDeltas = [
  '{"path":"out.txt","content":"',
  ...Array<string>(ARGUMENT_DELTAS - 2).fill(TEXT),
  '"}',
];

/** A tool call whose arguments arrive in many pieces. */
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
  ...cpuOfReply("argument-stream-cpu", () => ({
    plan: { tool: "write", argumentDeltas },
    count: ARGUMENT_DELTAS,
  })),
});

const PACE = { text: TEXT, pauseMs: 1, eventsPerWrite: 1 } as const;

/** The pace of a real model. */
export const pacedStream = scenario({
  rows: {
    "paced-cpu": { what: "one delta a millisecond: CPU per delta", unit: "µs", peer: 0.55 },
    "first-delta": {
      what: "first delta sent → first delta at the client",
      peer: 0.7,
    },
    "last-byte": { what: "last byte sent → end at the client", peer: 0.7 },
    "paced-abort": { what: "abort → response at that pace", peer: 0.8 },
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
  const firstDelta = host.nextDelta();
  const used = await cpuOf(host, prompt);
  const [exchange] = await server.exchanges();
  return {
    "paced-cpu": used / count,
    "first-delta": (await firstDelta) - (exchange?.firstDelta ?? Number.NaN),
    "last-byte": host.lastFrameAt - (exchange?.ended ?? Number.NaN),
  };
}

/** Unmerged deltas: Tau is asked not to merge, other hosts never do. */
export const unmergedDeltas = scenario({
  rows: {
    "delta-delay": {
      what: "each delta sent → at the client, without merging, p50",
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

/** Measures one row: the CPU time per delta of a reply, for a host and for the floor. */
function cpuOfReply<Name extends string>(
  name: Name,
  replyFor: (stage: Stage) => { readonly plan: ReplyPlan; readonly count: number },
): Pick<Required<Scenario<Name>>, "host" | "floor"> {
  const turn = (stage: Stage, child: Child, prompt: () => Promise<void>) => async () => {
    const { plan, count } = replyFor(stage);
    await stage.server.reply(plan);
    const used = await cpuOf(child, prompt);
    return { [name]: used / count } as Record<Name, number>;
  };
  return {
    host: async (stage, contestant) => {
      const host = await startHost(stage, contestant);
      const measure = turn(stage, host, () => runPrompt(host));
      return async () => {
        await host.request("new_session");
        return measure();
      };
    },
    floor: async (stage) => {
      const floor = startFloor(stage, "sse-client");
      return turn(stage, floor, () => runFloorPrompt(floor, stage));
    },
  };
}
