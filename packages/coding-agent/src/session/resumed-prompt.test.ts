import { type Scenario, toolCall, turn } from "@tau-agent/ai/testing";
import { expect, test } from "vitest";
import {
  createTestSession,
  eventOf,
  isType,
  unpaired,
  userTexts,
} from "../create/__fixtures__/test-session.ts";
import { TroubledStore } from "../create/__fixtures__/troubled-store.ts";

const place = { projectKey: "project", session: { kind: "id", id: "shared" } } as const;
const options = { promptId: "job-1", resume: true };

test("continues a prompt whose host died during a tool call, without running the tool again", async () => {
  const store = new TroubledStore();
  const dying = await createTestSession([turn([toolCall("bash", { command: "sleep 630" })])], {
    ...place,
    store,
  });
  void dying.session.submit("go", options);
  await eventOf(dying, isType("tool_execution_start"));
  if (store.lease !== undefined) await store.release(store.lease);
  const { session, events } = await createTestSession(["done"], { ...place, store });
  const { disposition, result } = await session.submit("go", options);
  expect(disposition).toBe("started");
  expect(await result).toMatchObject({ status: "completed", text: "done", promptId: "job-1" });
  expect(userTexts(session.messages)).toEqual(["go"]);
  expect(unpaired(session.messages)).toEqual([]);
  expect(events.filter(isType("tool_execution_start"))).toEqual([]);
  expect(events.filter(isType("prompt_result"))).toHaveLength(1);
});

test("continues a prompt that was aborted with its host, without the cut reply", async () => {
  const store = new TroubledStore();
  const ending = await createTestSession([turn([toolCall("bash", { command: "sleep 630" })])], {
    ...place,
    store,
  });
  void ending.session.submit("go", options);
  await eventOf(ending, isType("tool_execution_start"));
  await ending.session.dispose();
  const { session } = await createTestSession(["done"], { ...place, store });
  const { result } = await session.submit("go", options);
  expect(await result).toMatchObject({ status: "completed", text: "done" });
  expect(unpaired(session.messages)).toEqual([]);
  expect(userTexts(session.messages)).toEqual(["go"]);
});

test("does not restart a prompt that has ended", async () => {
  const store = new TroubledStore();
  const { session } = await createTestSession(["done", "never"], { ...place, store });
  await session.prompt("go", options);
  const { disposition, result } = await session.submit("go", options);
  expect(disposition).toBe("duplicate");
  expect(await result).toMatchObject({ status: "completed", text: "done" });
});

const key = { projectKey: "project", sessionId: "shared" };
const outputSchema = {
  type: "object",
  properties: { answer: { type: "number" } },
  required: ["answer"],
};
const asking = { ...options, outputSchema };

/** A session with only what its host had stored when it died: all lines before `isLost` returns true. */
async function diedBefore(scenario: Scenario, isLost: (line: string) => boolean) {
  const whole = new TroubledStore();
  const { session } = await createTestSession(scenario, { ...place, store: whole });
  await session.prompt("go", asking);
  await session.dispose();
  const lines = (await whole.load(key)) ?? [];
  const at = lines.findIndex((line) => isLost(JSON.stringify(line)));
  const store = new TroubledStore();
  const lease = await store.acquire(key, 60_000);
  await store.append(key, at === -1 ? lines : lines.slice(0, at), lease);
  await store.release(lease);
  return store;
}

test.each([
  ["with a text", ['{"answer": 42}']],
  ["at the second attempt", ["forty-two", '{"answer": 42}']],
])(
  "keeps the output of a prompt that ended %s before its host could announce it",
  async (_, scenario) => {
    const store = await diedBefore(scenario, () => false);
    const test = await createTestSession(["never"], { ...place, store });
    const { disposition, result } = await test.session.submit("go", asking);
    expect(disposition).toBe("duplicate");
    const valid = { status: "completed", outputStatus: "valid", output: { answer: 42 } };
    expect(await result).toMatchObject({ ...valid, outputAttempts: scenario.length });
    const event = await eventOf(test, isType("prompt_result"));
    expect(event).toMatchObject(valid);
    await test.session.submit("go", asking);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(test.events.filter(isType("prompt_result"))).toHaveLength(1);
  },
);

test.each([
  ["before the reminder", (line: string) => line.includes('"output_schema"')],
  ["after the reminder", (line: string) => line.includes('{\\"answer\\": 42}')],
])("requests an answer again in the next host if it does not fit, %s", async (_, isLost) => {
  const store = await diedBefore(["forty-two", '{"answer": 42}'], isLost);
  const { session } = await createTestSession(['{"answer": 43}'], { ...place, store });
  const { disposition, result } = await session.submit("go", asking);
  expect(disposition).toBe("started");
  expect(await result).toMatchObject({ output: { answer: 43 }, outputAttempts: 2 });
  const reminders = (await store.load(key))?.filter(
    ({ customType }) => customType === "output_schema",
  );
  expect(reminders).toHaveLength(1);
});
