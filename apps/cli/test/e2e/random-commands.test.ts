import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { slice } from "../../../../scripts/testing/slice.ts";
import {
  randomCommand,
  randomExtension,
  randomScenario,
  type SentCommand,
  seededRandom,
} from "../support/random-commands.ts";
import { startHost } from "../support/start-host.ts";

type Frame = Record<string, unknown> & { readonly type: string };
type Ending = "settled" | "stdin" | "SIGTERM";

const files = {
  "scenario.mjs": randomScenario,
  "agent/extensions/random.ts": randomExtension,
  "agent/settings.json": '{"retry.baseDelayMs": 50, "compaction.keepRecentTokens": 5}',
};
const start = () =>
  startHost({ files, arguments: ["--provider", "scripted", "--model", "../scenario.mjs"] });

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends random commands, several per chunk, answers dialogs, and ends the host. */
async function drive(seed: number, ending: Ending) {
  const host = start();
  const { below } = seededRandom(seed);
  const sent: SentCommand[] = [];
  const frames: Frame[] = [];
  let entryId = "none";
  const collect = (async () => {
    for (;;) {
      const frame = (await host.frames.next()) as Frame | undefined;
      if (frame === undefined) return;
      frames.push(frame);
      if (frame.command === "get_fork_messages" && frame.success) {
        const { messages } = frame.data as { messages: { entryId: string }[] };
        entryId = messages.at(-1)?.entryId ?? entryId;
      }
      if (frame.type !== "extension_ui_request" || frame.method === "notify") continue;
      const answer = below(3) === 0 ? { cancelled: true } : { value: "a", confirmed: true };
      host.send({ type: "extension_ui_response", id: frame.id, ...answer });
    }
  })();
  const send = (count: number): void => {
    const chunk = Array.from({ length: count }, () => {
      const command = randomCommand(below, `c${sent.length}`, entryId);
      sent.push(command);
      return `${JSON.stringify(command)}\n`;
    });
    host.child.stdin.write(chunk.join(""));
  };
  for (let step = 0; step < 60; step++) {
    send(1 + below(4));
    await wait([0, 1, 5, 20, 60][below(5)] ?? 0);
  }
  for (let tries = 0; ending === "settled" && tries < 200; tries++) {
    const id = `idle${tries}`;
    sent.push({ id, type: "get_state" });
    host.send({ id, type: "get_state" });
    await wait(50);
    const state = frames.find((frame) => frame.id === id)?.data as Frame | undefined;
    const isAnswered = frames.filter(({ type }) => type === "response").length === sent.length;
    if (state?.isStreaming === false && state.isCompacting === false && isAnswered) break;
  }
  const endedAt = performance.now();
  if (ending === "SIGTERM") host.child.kill("SIGTERM");
  else host.child.stdin.end();
  const { code } = await host.ended;
  const tookMs = performance.now() - endedAt;
  await collect;
  return { host, sent, frames, code, tookMs };
}

/** The number that was open after each start and end event of a kind. */
function depthsOf(frames: readonly Frame[], kind: string): number[] {
  let depth = 0;
  return frames.flatMap(({ type }) => {
    if (type === `${kind}_start`) depth += 1;
    else if (type === `${kind}_end`) depth -= 1;
    else return [];
    return depth;
  });
}

function sessionLines(folder: string): Frame[] {
  const root = join(folder, "agent/sessions");
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => {
      const text = readFileSync(join(root, name), "utf8");
      expect(text.endsWith("\n")).toBe(true);
      return text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Frame);
    });
}

function checkAnswers(sent: readonly SentCommand[], frames: readonly Frame[]): void {
  const idsOf = (type: string) =>
    frames.flatMap((frame) => (frame.type === type ? [frame.id as string] : []));
  const answered = idsOf("response");
  expect(new Set(answered).size).toBe(answered.length);
  const results = idsOf("prompt_result");
  expect(new Set(results).size).toBe(results.length);
  const prompts = new Set(
    sent.flatMap(({ id, type }) => (/^(prompt|abort_and_prompt)$/.test(type) ? [id] : [])),
  );
  const accepted = frames.flatMap(({ type, id, success }) =>
    type === "response" && success === true && prompts.has(id as string) ? [id] : [],
  );
  expect(results.toSorted()).toEqual(accepted.toSorted());
}

describe("random commands, many in a chunk, while anything is running", () => {
  const runs: [number, Ending][] = [
    [1, "settled"],
    [2, "settled"],
    [3, "stdin"],
    [4, "stdin"],
    [5, "SIGTERM"],
    [6, "SIGTERM"],
  ];
  it.each(slice(runs, 2))(
    "are each answered once, lose nothing and end in order (seed %d, %s)",
    async (seed, ending) => {
      const { host, sent, frames, code, tookMs } = await drive(seed, ending);
      expect(code).toBe(ending === "SIGTERM" ? 143 : 0);
      expect(tookMs).toBeLessThan(20_000);
      expect(host.noise).toEqual([]);
      expect(host.stderr).not.toMatch(/unexpected|TypeError/);
      checkAnswers(sent, frames);
      const answers = frames.filter(({ type }) => type === "response");
      if (ending !== "SIGTERM") expect(answers).toHaveLength(sent.length);
      for (const kind of ["agent", "turn", "message", "auto_compaction", "compaction"]) {
        const depths = depthsOf(frames, kind);
        expect(Math.max(0, ...depths), kind).toBeLessThanOrEqual(1);
        expect(depths.at(-1) ?? 0, kind).toBe(0);
      }
      const types = frames.map(({ type }) => type);
      const [settled, ended] = ["agent_settled", "agent_end"].map((type) =>
        types.lastIndexOf(type),
      );
      // On a busy machine, the signal may arrive before any run.
      if (types.includes("agent_start")) expect(settled).toBeGreaterThan(ended ?? 0);
      const lines = sessionLines(host.place.folder);
      const stored = new Set(lines.map(({ message }) => JSON.stringify(message)));
      for (const { type, message } of frames) {
        const isCustom = (message as Frame | undefined)?.role === "custom";
        if (type === "message_end" && !isCustom) expect(stored).toContain(JSON.stringify(message));
      }
    },
  );
});
