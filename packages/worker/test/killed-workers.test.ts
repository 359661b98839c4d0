import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createRedisStore } from "@tau-agent/store-redis";
import { expect, onTestFinished, test } from "vitest";
import { describeWith } from "../../../scripts/testing/describe-with.ts";
import { sliceSize } from "../../../scripts/testing/slice.ts";
import { RedisServer, redisIsMissing } from "../../store-redis/test/redis-server.ts";
import { type Frame, hostsOf, testFleet } from "./test-fleet.ts";

/** Use `TAU_FLEET_KILLS=200` before a release. `TAU_FLEET_SEED` changes the moments of the kills. */
const killCount = Number(process.env.TAU_FLEET_KILLS ?? sliceSize(4, 12));
const seed = Number(process.env.TAU_FLEET_SEED ?? 20_261_122);
const SESSIONS = ["a", "b", "c", "d"];
const projectKey = "p";

/** Three slow calls that each leave a trace, then an answer that names the prompt. */
const scenario = `
import { randomUUID } from "node:crypto";
export default ({ messages, lastUserText }) => {
  const turns = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
  const replies = turns.filter(({ role }) => role === "assistant").length;
  if (replies === 3) return { content: "Answer to " + lastUserText, chunkSize: 2, delayMs: 10 };
  const id = randomUUID();
  const command = "echo " + id + " >> ran.txt; sleep 0.1; echo " + id;
  return {
    content: [
      { type: "text", text: "One more look.", chunkSize: 2, delayMs: 10 },
      { type: "toolCall", name: "bash", id, arguments: { command } },
    ],
  };
};
`;

interface Message {
  readonly role: string;
  readonly content: string | readonly { readonly type: string; readonly id?: string }[];
  readonly toolCallId?: string;
}

describeWith(redisIsMissing)("a fleet", () => {
  test(
    `loses, repeats and reruns nothing when ${killCount} workers die in the middle of prompts (seed ${seed})`,
    async () => {
      const server = await RedisServer.start();
      onTestFinished(() => server[Symbol.asyncDispose]());
      const fleet = testFleet({ redisUrl: server.url, scenario });
      const random = randomNumbers(seed);
      // On a busy machine, many hosts die before they have written an entry.
      const start = () =>
        fleet.start(["--concurrency", "2", "--lease-ms", "700", "--max-lives", "1000"]);
      const workers = await Promise.all([start(), start()]);
      let isOver = false;
      const prompts = new Map<string, string[]>();
      const clients = SESSIONS.map(async (sessionId) => {
        const ids: string[] = [];
        prompts.set(sessionId, ids);
        while (!isOver || ids.length === 0) {
          const id = `${sessionId}-${ids.length}`;
          ids.push(id);
          const job = await fleet.add({ sessionId, projectKey, message: `question ${id}` }, id);
          expect(await job.waitUntilFinished(fleet.ends)).toEqual({
            status: "completed",
            text: `Answer to question ${id}`,
            sessionId,
          });
        }
      });
      const killed = (async () => {
        for (let kills = 0; kills < killCount; ) {
          await new Promise((resolve) => setTimeout(resolve, 50 + random(900)));
          const at = random(workers.length);
          const hosts = hostsOf(workers[at]);
          if (hosts.length === 0) continue;
          workers[at]?.process.kill("SIGKILL");
          // Half of the time the whole machine dies, otherwise only the worker.
          if (random(2) === 0) spawnSync("kill", ["-KILL", ...hosts], { stdio: "ignore" });
          kills += 1;
          workers[at] = await start();
        }
        isOver = true;
      })();
      await Promise.all([killed, ...clients]);
      const store = createRedisStore({ url: server.url });
      onTestFinished(() => store.close?.());
      const ran = readFileSync(join(fleet.project, "ran.txt"), "utf8").trim().split("\n");
      const faults = ran
        .filter((id, index) => ran.indexOf(id) !== index)
        .map((id) => `${id} ran twice`);
      for (const [sessionId, ids] of prompts) {
        const entries = (await store.load({ projectKey, sessionId })) ?? [];
        const session = { entries, frames: await fleet.framesOf(sessionId), ids, ran };
        faults.push(...faultsOf(session).map((fault) => `${sessionId}: ${fault}`));
      }
      expect(faults).toEqual([]);
    },
    60_000 + killCount * 10_000,
  );
});

interface Session {
  readonly entries: readonly Frame[];
  readonly frames: readonly Frame[];
  /** The ids of the prompts, in order. */
  readonly ids: readonly string[];
  /** What the commands of all sessions wrote. */
  readonly ran: readonly string[];
}

function faultsOf({ entries, frames, ids, ran }: Session): string[] {
  const messages = entries.flatMap(({ message }) => (message === undefined ? [] : [message]));
  const stored = messages.map((message) => JSON.stringify(message));
  const ends = frames.filter(({ type }) => type === "message_end");
  const announced = ends.map(({ message }) => JSON.stringify(message));
  const questions = (messages as Message[]).flatMap(({ role, content }) =>
    role === "user" ? [content] : [],
  );
  const results = frames.flatMap(({ type, promptId }) =>
    type === "prompt_result" ? [promptId] : [],
  );
  const places = announced.map((text) => stored.indexOf(text));
  return [
    ...doubles(entries.map(({ id }) => id)).map((id) => `entry ${id} is stored twice`),
    ...doubles(stored).map((text) => `stored twice: ${text}`),
    ...doubles(announced).map((text) => `announced twice: ${text}`),
    ...announced.filter((text) => !stored.includes(text)).map((text) => `lost: ${text}`),
    ...(isRising(places) ? [] : ["announced in another order than stored"]),
    ...(isRising(frames.map(({ seq }) => Number(seq))) ? [] : ["seq does not rise"]),
    ...same(
      "prompts",
      questions,
      ids.map((id) => `question ${id}`),
    ),
    ...same("results", results, ids),
    ...callFaults(messages as Message[], ran),
  ];
}

/** Checks that each call has one result: its output, or that it was interrupted. */
function callFaults(messages: readonly Message[], ran: readonly string[]): string[] {
  const results = messages.filter(({ role }) => role === "toolResult");
  const calls = messages.flatMap(({ role, content }) =>
    role === "assistant" && typeof content !== "string"
      ? content.flatMap(({ type, id }) => (type === "toolCall" && id !== undefined ? [id] : []))
      : [],
  );
  return calls.flatMap((id) => {
    const own = results.filter(({ toolCallId }) => toolCallId === id);
    const text = JSON.stringify(own);
    const hasPrinted = text.includes(`"text":"${id}`);
    const isInterrupted = /interrupted|aborted/i.test(text);
    return [
      ...(own.length === 1 ? [] : [`call ${id} has ${own.length} results`]),
      ...(hasPrinted || isInterrupted ? [] : [`call ${id} has an odd result: ${text}`]),
      ...(hasPrinted && !ran.includes(id) ? [`call ${id} printed without running`] : []),
    ];
  });
}

function same(what: string, actual: readonly unknown[], wanted: readonly unknown[]): string[] {
  const [has, wants] = [JSON.stringify(actual), JSON.stringify(wanted)];
  return has === wants ? [] : [`${what}: ${has} instead of ${wants}`];
}

function doubles<Value>(values: readonly Value[]): Value[] {
  const seen = new Set<Value>();
  return values.filter((value) => seen.has(value) || !seen.add(value));
}

function isRising(numbers: readonly number[]): boolean {
  return numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? number));
}

/** A generator that yields the same numbers for the same seed. */
function randomNumbers(first: number) {
  let last = first;
  return (below: number) => {
    last = (last * 48_271) % 2_147_483_647;
    return last % below;
  };
}
