import { toolCall, turn } from "@tau-agent/ai/testing";
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

test("a prompt whose host died in a tool goes on, without running the tool again", async () => {
  const store = new TroubledStore();
  const dying = await createTestSession([turn([toolCall("bash", { command: "sleep 30" })])], {
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

test("a prompt that was aborted with its host goes on without the cut reply", async () => {
  const store = new TroubledStore();
  const ending = await createTestSession([turn([toolCall("bash", { command: "sleep 30" })])], {
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

test("a prompt that has ended does not begin again", async () => {
  const store = new TroubledStore();
  const { session } = await createTestSession(["done", "never"], { ...place, store });
  await session.prompt("go", options);
  const { disposition, result } = await session.submit("go", options);
  expect(disposition).toBe("duplicate");
  expect(await result).toMatchObject({ status: "completed", text: "done" });
});
