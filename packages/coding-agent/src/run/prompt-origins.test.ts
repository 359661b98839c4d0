import { scriptedModel, toolCall, turn } from "@tau-agent/ai/testing";
import type { EventOrder, SessionEvent } from "@tau-agent/rpc-protocol";
import { describe, expect, it } from "vitest";
import {
  createTestSession,
  type TestSession,
  userTexts,
} from "../create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../create/options/session-options.ts";

type Told = { readonly event: SessionEvent } & EventOrder;

async function create(
  scenario: Parameters<typeof createTestSession>[0],
  options: Partial<CreateAgentSessionOptions> = {},
): Promise<TestSession & { told: Told[]; promptOf: (type: string) => (string | undefined)[] }> {
  const test = await createTestSession(scenario, options);
  const told: Told[] = [];
  test.session.subscribe((event, order) => void told.push({ event, ...order }));
  const promptOf = (type: string) =>
    told.filter(({ event }) => event.type === type).map(({ promptId }) => promptId);
  return { ...test, told, promptOf };
}

const slowCall = turn(toolCall("bash", { command: "sleep 0.1" }));

describe("the prompt id of events", () => {
  it("is that of their run's prompt, with sequence numbers without gaps", async () => {
    const { session, told } = await create(["one", "two"]);
    session.setName("before any run");
    await session.prompt("go", { promptId: "first" });
    const { promptId } = await session.prompt("again");
    expect(told.map(({ seq }) => seq)).toEqual(told.map((_, index) => index + 1));
    const prompts = [...new Set(told.map((each) => each.promptId))];
    expect(prompts).toEqual([undefined, "first", promptId]);
    expect(promptId).toMatch(/^[A-Za-z0-9_-]{1,128}$/);
  });

  it("changes with the message_start of a queued prompt", async () => {
    const { session, told, promptOf } = await create([slowCall, "done", "and more"]);
    const first = session.prompt("go", { promptId: "first" });
    const { promptId: steered } = await session.steer("stop");
    const { promptId: followed } = await session.followUp("and more");
    await first;
    await session.waitForIdle();
    const starts = told.filter(
      ({ event }) => event.type === "message_start" && event.message.role === "user",
    );
    expect(starts.map(({ promptId }) => promptId)).toEqual(["first", steered, followed]);
    expect(promptOf("agent_start")).toEqual(["first"]);
    expect(promptOf("agent_settled")).toEqual([followed]);
    expect(promptOf("prompt_result")).toEqual(["first"]);
  });

  it("is absent from a compaction that a client requested", async () => {
    const { session, promptOf } = await create(["one", "two", "a summary", "and another"]);
    session.settings.override("compaction.keepRecentTokens", 1);
    await session.prompt("first");
    await session.prompt("second");
    await session.compact();
    expect(promptOf("compaction_start")).toEqual([undefined]);
  });

  it("comes with ordered sequence numbers even if an earlier listener causes an event", async () => {
    const { session } = await createTestSession(["one"]);
    session.subscribe(({ type }) => {
      if (type === "agent_start") session.setName("named by a listener");
    });
    const seen: [string, number][] = [];
    session.subscribe(({ type }, { seq }) => void seen.push([type, seq]));
    await session.prompt("go");
    expect(seen.slice(0, 2)).toEqual([
      ["agent_start", 1],
      ["session_info_changed", 2],
    ]);
    expect(seen.map(([, seq]) => seq)).toEqual(seen.map((_, index) => index + 1));
  });
});

describe("a prompt with a client's id", () => {
  it("starts nothing if the session knows the id, and returns the first result", async () => {
    const { session, promptOf } = await create([slowCall, "done"]);
    const first = session.prompt("go", { promptId: "mine" });
    const second = await session.submit("go", { promptId: "mine" });
    expect(second).toMatchObject({ disposition: "duplicate", promptId: "mine" });
    expect(await second.result).toBe(await first);
    const third = await session.submit("go", { promptId: "mine" });
    expect(third.disposition).toBe("duplicate");
    expect(await third.result).toMatchObject({ status: "completed", text: "done" });
    expect(userTexts(session.messages)).toEqual(["go"]);
    expect(promptOf("prompt_result")).toEqual(["mine"]);
  });

  it("is known when the session is opened again, even in a fork", async () => {
    const { session, written, folder } = await create(["one", "two"]);
    await session.prompt("go", { promptId: "mine" });
    await session.prompt("and on");
    expect(written().find(({ message }) => message?.role === "user")).toMatchObject({
      promptId: "mine",
    });
    const path = session.log.path ?? "";
    await session.dispose();
    const again = await create([], { session: { kind: "file", path }, cwd: folder });
    const { disposition, result } = await again.session.submit("go", { promptId: "mine" });
    expect(disposition).toBe("duplicate");
    expect(await result).toMatchObject({ status: "completed", text: "one", promptId: "mine" });
    await again.session.navigation.clone();
    expect((await again.session.submit("go", { promptId: "mine" })).disposition).toBe("duplicate");
  });

  it("may be sent again after it was refused", async () => {
    const { session } = await create(["one"], { model: undefined });
    await expect(session.submit("go", { promptId: "mine" })).rejects.toThrow("No model");
    await session.setModel(scriptedModel());
    expect(await session.prompt("go", { promptId: "mine" })).toMatchObject({ text: "one" });
  });

  it("is refused if its id has other characters", async () => {
    const { session } = await create([]);
    await expect(session.submit("go", { promptId: "a b" })).rejects.toThrow("promptId");
  });
});

describe("a queued prompt", () => {
  it("has an item id, and can be removed", async () => {
    const { session, told, promptOf } = await create([slowCall, "done"]);
    const first = session.prompt("go");
    const queued = await session.submit("not this", { streamingBehavior: "followUp" });
    const { itemId = "", promptId } = queued;
    const update = told.findLast(({ event }) => event.type === "queue_update");
    expect(update?.event).toMatchObject({
      items: [{ itemId, promptId, kind: "followUp", text: "not this" }],
    });
    expect(await session.cancelQueued(itemId)).toEqual({ text: "not this" });
    expect(await queued.result).toMatchObject({ status: "aborted" });
    expect(promptOf("prompt_result")).toEqual([promptId]);
    await expect(session.cancelQueued(itemId)).rejects.toMatchObject({
      code: "queue_item_not_found",
    });
    await first;
    expect(userTexts(session.messages)).toEqual(["go"]);
  });
});
