/** Conversations that switch between each pair of wire formats and back, checked against the vendors' rules. */
import { createStream } from "@tau-agent/ai";
import {
  type LoopbackApi,
  loopbackApis,
  overloaded,
  type Scenario,
  startLoopbackServer,
  text,
  thinking,
  toolCall,
  turn,
} from "@tau-agent/ai/testing";
import { describe, expect, it } from "vitest";
import { slice } from "../../../../scripts/testing/slice.ts";
import {
  createTestSession,
  keyless,
  unpaired,
} from "../../src/create/__fixtures__/test-session.ts";
import { fallbacksOf, quickSettings, writers } from "./__fixtures__/fallback-session.ts";

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const says = (name: string) =>
  turn([
    thinking("Hm, let me see.", { signature: "c2lnbmF0dXJl" }),
    text(`${name} looks.`),
    toolCall("ls", { path: "." }),
  ]);

/** Looks around with a tool, reports, and repeats. */
const scenario = (name: string): Scenario => [
  says(name),
  `${name} 1`,
  says(name),
  `${name} 2`,
  says(name),
  `${name} 3`,
];

/** A conversation that `from` begins, `to` continues, and `from` takes back after the cooldown. */
async function cross(from: LoopbackApi, to: LoopbackApi, more: { readsImages: boolean }) {
  // Fails during the second prompt, after its tool ran; each request is tried twice.
  const faults = (index: number) => (index === 3 || index === 4 ? overloaded() : undefined);
  await using first = await startLoopbackServer({ scenario: scenario("first"), faults });
  await using second = await startLoopbackServer({ scenario: scenario("second") });
  const chosen = first.model(from, { id: "chosen", provider: "first" });
  const input = more.readsImages ? (["text", "image"] as const) : (["text"] as const);
  const other = second.model(to, { id: "other", provider: "second", input: [...input] });
  const withKey = { isKeyless: false, apiKey: "sk-loopback-secret" };
  const test = await createTestSession([], {
    model: chosen,
    fallbackModels: ["second/other"],
    providers: [
      { ...keyless("first"), ...withKey },
      { ...keyless("second"), ...withKey, models: () => [other] },
    ],
    stream: createStream(),
    thinkingLevel: "medium",
    settings: quickSettings(),
  });
  const { session } = test;
  const images = [{ type: "image" as const, data: png, mimeType: "image/png" }];
  expect(await session.prompt("one", { images })).toMatchObject({ status: "completed" });
  expect(await session.prompt("two")).toMatchObject({ status: "completed" });
  expect(await session.prompt("three", { images })).toMatchObject({ status: "completed" });
  session.settings.override("fallback.cooldownMs", 0);
  expect(await session.prompt("four")).toMatchObject({ status: "completed" });
  expect(unpaired(session.messages)).toEqual([]);
  expect(fallbacksOf(test)).toEqual(["first/chosen second/other overloaded"]);
  const sent = [...first.refusals, ...second.refusals];
  return { sent, writers: writers(test), requests: second.requests };
}

const pairs = loopbackApis.flatMap((from) => loopbackApis.map((to) => [from, to] as const));

describe("a fallback", () => {
  it.each(slice(pairs, 16))(
    "reads the conversation when it switches from %s to %s and back",
    async (from, to) => {
      for (const readsImages of [true, false]) {
        const crossed = await cross(from, to, { readsImages });
        expect(crossed.sent).toEqual([]);
        const chosen = "first/chosen";
        const other = "second/other";
        expect(crossed.writers).toEqual([
          ...Array(3).fill(chosen),
          ...Array(4).fill(other),
          chosen,
        ]);
        const bodies = crossed.requests.map(({ body }) => JSON.stringify(body)).join("\n");
        expect(bodies.includes(png)).toBe(readsImages);
      }
    },
  );
});
