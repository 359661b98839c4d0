import { expect, it } from "vitest";
import { slice, sliceSize } from "../../../../scripts/testing/slice.ts";
import { Editor } from "../support/acp-editor.ts";
import { areGone } from "../support/start-host.ts";

const call = (name: string, args: Record<string, unknown>) => ({
  type: "toolCall" as const,
  name,
  arguments: args,
});

/** Rounds per seed; before a release, run with `TAU_ACP_CANCELS=1000`. */
const rounds = Number(process.env.TAU_ACP_CANCELS ?? sliceSize(12, 60));

/** Returns the same numbers for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 374_761_393) >>> 0;
    return state % below;
  };
}

const text = {
  type: "text" as const,
  text: "some words to say ".repeat(4),
  chunkSize: 6,
  delayMs: 1,
};
const scenario = [
  {
    repeat: true,
    when: { hasToolResults: false },
    content: [
      text,
      call("write", { path: "x.txt", content: "x" }),
      call("bash", { command: "touch y; sleep 0.05; echo z" }),
      call("read", { path: "notes.txt" }),
    ],
  },
  { repeat: true, when: { hasToolResults: true }, content: [text] },
];

it.each(slice([1, 2, 3], 1))(
  "a cancel at any time ends its turn and no other (seed %i)",
  async (seed) => {
    const random = randomOf(seed);
    const editor = await Editor.start({
      isBuilt: true,
      scenario,
      arguments: ["--permission-mode", seed === 2 ? "ask" : "all"],
      answers: (app) =>
        app.onRequest("session/request_permission", async ({ params }) => {
          await new Promise((resolve) => setTimeout(resolve, random(20)));
          const { optionId = "" } = params.options[0] ?? {};
          return { outcome: { outcome: "selected", optionId } };
        }),
    });
    const { sessionId } = await editor.open();
    for (let round = 0; round < rounds; round++) {
      const count = 1 + random(3);
      const controllers = Array.from({ length: count }, () => new AbortController());
      const running = controllers.map(({ signal }, at) =>
        editor.prompt(sessionId, `prompt ${round}.${at}`, { cancellationSignal: signal }),
      );
      await new Promise((resolve) => setTimeout(resolve, random(150)));
      if (random(3) === 0) for (const one of controllers) one.abort();
      else await editor.agent.notify("session/cancel", { sessionId });
      for (const { stopReason } of await Promise.all(running)) {
        expect(["cancelled", "end_turn"]).toContain(stopReason);
      }
      // By the time of the last answer, every call has ended.
      for (const [id, states] of Object.entries(editor.states(sessionId))) {
        expect([id, states.at(-1)]).toEqual([id, expect.stringMatching(/^(completed|failed)$/)]);
      }
      const before = editor.said.length;
      await new Promise((resolve) => setTimeout(resolve, 10));
      expect(editor.said.slice(before)).toEqual([]);
    }
    expect(await editor.prompt(sessionId, "the last one")).toEqual({ stopReason: "end_turn" });
    expect(editor.text(sessionId, "agent_message_chunk")).toMatch(/some words to say $/);
    const { pid } = editor;
    expect(await editor.leave()).toBe(0);
    expect(await areGone([pid])).toBe(true);
  },
);
