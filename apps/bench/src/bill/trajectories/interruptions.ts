import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { turn } from "@tau-agent/ai/testing";
import type { BillSession } from "../bill-session.ts";
import { answer, prose, step } from "../script.ts";
import { bash, type Trajectory, work, workInPrompts } from "./trajectory.ts";

/** Interruptions between the turns of a session, by people and machines. */
export const interruptions: readonly Trajectory[] = [
  {
    name: "steering",
    what: "Steered three times",
    async play(session) {
      for (let round = 0; round < 3; round++) {
        const turns = [
          ...work(5, round * 8),
          step(round, waitFor(`steered-${round}`)),
          ...work(3, round * 8 + 5),
          answer(round),
        ];
        const { end } = await session.begin(`Work on part ${round}.`, turns);
        await started(session, `steered-${round}`);
        await session.host.request("steer", { message: `Rather ${prose(120, round)}` });
        release(session, `steered-${round}`);
        await end;
      }
    },
  },
  {
    name: "abort",
    what: "Aborted, then continued",
    async play(session) {
      for (let round = 0; round < 3; round++) {
        const slow = turn(prose(2_000, round), { delayMs: 20 });
        const delta = session.host.nextDelta();
        const { end } = await session.begin(`Work on part ${round}.`, [
          ...work(6, round * 12),
          slow,
        ]);
        await delta;
        await until(() => session.script.left === 0);
        await sleep(100);
        await session.host.request("abort");
        await end;
        await session.prompt("Go on.", [...work(5, round * 12 + 6), answer(round)]);
      }
    },
  },
  idle("idle-7", "Idle for 7 minutes", [7]),
  idle("idle-70", "Idle for 70 minutes", [70]),
  idle("idle-6x7", "Idle six times for 7 minutes", [7, 7, 7, 7, 7, 7]),
  {
    name: "slow-commands",
    what: "Two commands of seven minutes",
    async play(session) {
      await workInPrompts(session, 20);
      for (const round of [0, 1]) {
        const name = `slow-${round}`;
        const turns = [
          ...work(3, 20 + round * 8),
          step(round, waitFor(name)),
          ...work(3, 24),
          answer(1),
        ];
        const { end } = await session.begin(`Run the long tests of part ${round}.`, turns);
        await started(session, name);
        await session.clock.pass(7);
        release(session, name);
        await end;
      }
    },
  },
];

function idle(name: string, what: string, gaps: readonly number[]): Trajectory {
  return {
    name,
    what,
    async play(session) {
      await workInPrompts(session, 20);
      for (const [index, minutes] of gaps.entries()) {
        await session.clock.pass(minutes);
        const from = 20 + index * 4;
        await session.prompt(`And part ${from}?`, [...work(3, from), answer(from)]);
      }
    },
  };
}

/** A command that runs until the file that releases it exists. */
function waitFor(name: string) {
  return bash(
    `touch ${name}.on; until [ -e ${name}.go ]; do sleep 0.02; done; echo "${name}: passed"`,
  );
}

async function started({ cwd }: BillSession, name: string): Promise<void> {
  await until(() => existsSync(join(cwd, `${name}.on`)));
}

function release({ cwd }: BillSession, name: string): void {
  writeFileSync(join(cwd, `${name}.go`), "");
}

async function until(holds: () => boolean): Promise<void> {
  for (let waits = 0; !holds(); waits++) {
    if (waits > 3_000) throw new Error("The host did not come so far");
    await sleep(10);
  }
}
