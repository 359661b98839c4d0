import { expect, it } from "vitest";
import { slice, sliceSize } from "../../../../scripts/testing/slice.ts";
import { makeEditorPlace } from "../support/acp-editor.ts";
import { AcpLines } from "../support/acp-lines.ts";
import { areGone } from "../support/start-host.ts";

const steps = Number(process.env.TAU_ACP_STEPS ?? sliceSize(60, 300));

/** Returns the same numbers for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 374_761_393) >>> 0;
    return state % below;
  };
}

const words = { type: "text" as const, text: "words ".repeat(6), chunkSize: 6, delayMs: 1 };
const toolCall = (name: string, args: Record<string, unknown>) => ({
  type: "toolCall" as const,
  name,
  arguments: args,
});
const scenario = [
  {
    repeat: true,
    when: { hasToolResults: false },
    content: [
      words,
      toolCall("write", { path: "x.txt", content: "x" }),
      toolCall("bash", { command: "sleep 0.02; echo z" }),
    ],
  },
  { repeat: true, when: { hasToolResults: true }, content: [words] },
];

const outcomes = [
  { result: { outcome: { outcome: "selected", optionId: "allow_once" } } },
  { result: { outcome: { outcome: "selected", optionId: "reject_once" } } },
  { result: { outcome: { outcome: "selected", optionId: "no such option" } } },
  { result: { outcome: { outcome: "cancelled" } } },
  { error: { code: -32603, message: "the editor has a problem" } },
];

it.each(slice([1, 2, 3, 4, 5, 6], 2))(
  "each prompt ends exactly once, whatever the client does at any time (seed %i)",
  async (seed) => {
    const random = randomOf(seed);
    const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, random(ms)));
    const place = makeEditorPlace({ scenario, arguments: ["--permission-mode", "ask"] });
    const agent = new AcpLines(place);
    await agent.initialize();
    const sessionId = await agent.open(place.cwd);
    const prompts: string[] = [];
    const answered = new Set<unknown>();
    const isOpen = (id: string) => !agent.received.some((one) => one.id === id && !one.method);
    const questions = () =>
      agent.received.filter(({ method }) => method === "session/request_permission");
    const answer = (id: unknown) =>
      agent.line(JSON.stringify({ jsonrpc: "2.0", id, ...outcomes[random(5)] }));
    const actions: (() => unknown)[] = [
      () => {
        if (prompts.filter(isOpen).length > 4) return;
        const id = `prompt-${prompts.length}`;
        prompts.push(id);
        const prompt = [{ type: "text", text: id }];
        agent.send({ id, method: "session/prompt", params: { sessionId, prompt } });
      },
      () => agent.send({ method: "session/cancel", params: { sessionId } }),
      () => {
        const requestId = prompts[random(prompts.length + 1)] ?? "unknown";
        agent.send({ method: "$/cancel_request", params: { requestId } });
      },
      () => {
        // Answers each question at most once, even if it has been closed meanwhile.
        const [next] = questions().filter(({ id }) => !answered.has(id));
        if (next === undefined) return;
        answered.add(next.id);
        answer(next.id);
      },
      () => answer(questions().at(-1)?.id ?? "never asked"),
      () => answer(`question-${random(1000)}`),
    ];
    const weights = [0, 0, 0, 3, 3, 3, 3, 1, 2, 4, 5];
    for (let step = 0; step < steps; step += 1) {
      actions[weights[random(weights.length)] ?? 0]?.();
      await pause(30);
    }
    actions[0]?.();
    await pause(100);
    // Half of the clients disconnect in the middle.
    if (seed % 2 === 0) {
      agent.send({ method: "session/cancel", params: { sessionId } });
      for (const id of prompts) await agent.answer(id);
      const prompt = [{ type: "text", text: "the last" }];
      agent.send({ id: "last", method: "session/prompt", params: { sessionId, prompt } });
      for (const { id } of questions()) answered.add(id);
      while (isOpen("last")) {
        for (const { id } of questions().filter((one) => !answered.has(one.id))) {
          answered.add(id);
          agent.line(JSON.stringify({ jsonrpc: "2.0", id, ...outcomes[0] }));
        }
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      expect((await agent.answer("last")).result).toEqual({ stopReason: "end_turn" });
    }
    const pid = agent.child.pid ?? 0;
    agent.child.stdin.end();
    expect(await agent.ended).toBe(0);
    for (const id of prompts) {
      const ends = agent.received.filter((one) => one.id === id && one.method === undefined);
      expect([id, ends.length]).toEqual([id, 1]);
      const { result, error } = ends[0] ?? {};
      const reason = (result as { stopReason?: string } | undefined)?.stopReason;
      expect(["cancelled", "end_turn", -32_800]).toContain(reason ?? Object(error).code);
    }
    expect(prompts.length).toBeGreaterThan(steps / 10);
    expect(await areGone([pid])).toBe(true);
  },
);
