import { type ScenarioRequest, text, toolCall, turn } from "@tau-agent/ai/testing";
import { describe, expect, it } from "vitest";
import { createTestSession, unpaired, userTexts } from "../create/__fixtures__/test-session.ts";

const slow = (value: string) => turn(text(value, { chunkSize: 1, delayMs: 20 }));

describe("abortAndPrompt", () => {
  it("ends the current run and precedes the queue, and each prompt gets one result", async () => {
    const { session, events } = await createTestSession([slow("one long reply"), "b", "c"]);
    const first = await session.submit("first", { id: "1" });
    const queued = await session.submit("queued", { id: "2", streamingBehavior: "followUp" });
    const urgent = await session.abortAndPrompt("urgent", { id: "3" });
    expect(urgent.disposition).toBe("started");
    expect((await first.result).status).toBe("aborted");
    expect((await urgent.result).status).toBe("completed");
    expect((await queued.result).status).toBe("completed");
    await session.waitForIdle();
    expect(userTexts(session.messages)).toEqual(["first", "urgent", "queued"]);
    expect(unpaired(session.messages)).toEqual([]);
    expect(events.filter(({ type }) => type === "prompt_result")).toHaveLength(3);
  });

  it("starts a run while idle, and the later of two simultaneous calls wins", async () => {
    const { session } = await createTestSession([slow("one long reply"), "b"]);
    const [one, two] = await Promise.all([
      session.abortAndPrompt("one"),
      session.abortAndPrompt("two"),
    ]);
    expect((await one.result).status).toBe("aborted");
    expect((await two.result).status).toBe("completed");
    expect(session.isStreaming).toBe(false);
  });

  it("stops nothing if it is refused", async () => {
    const { session } = await createTestSession([slow("a reply")]);
    const { result } = await session.submit("go");
    const images = [{ type: "image" as const, data: "%%%", mimeType: "image/png" }];
    await expect(session.abortAndPrompt("look", { images })).rejects.toMatchObject({
      code: "invalid_image",
    });
    expect((await result).status).toBe("completed");
  });
});

describe("queueMessage", () => {
  it("starts no run while idle, counts as queued and is delivered with the next prompt", async () => {
    const { session, events } = await createTestSession(["a"]);
    const { result, ...acceptance } = await session.queueMessage("by the way");
    const { disposition, promptId, itemId } = acceptance;
    expect(disposition).toBe("queued");
    await session.waitForIdle();
    expect(session.messages).toEqual([]);
    expect(session.state.queuedMessageCount).toBe(1);
    await session.prompt("go");
    expect((await result).status).toBe("completed");
    expect(userTexts(session.messages)).toEqual(["go", "by the way"]);
    expect(session.state.queuedMessageCount).toBe(0);
    const updates = events.filter(({ type }) => type === "queue_update");
    expect(updates).toEqual([
      {
        type: "queue_update",
        steering: [],
        followUp: ["by the way"],
        items: [{ itemId, promptId, kind: "queue", text: "by the way" }],
      },
      { type: "queue_update", steering: [], followUp: [], items: [] },
    ]);
  });

  it("can be removed, and is dropped with the conversation", async () => {
    const { session } = await createTestSession([]);
    await session.queueMessage("one");
    expect(await session.clearQueue()).toEqual({ steering: [], followUp: ["one"] });
    await session.queueMessage("two");
    await session.newSession();
    expect(session.state.queuedMessageCount).toBe(0);
  });
});

describe("a message delivered while a tool runs", () => {
  it("does not separate the call from its result in the next request", async () => {
    const requests: ScenarioRequest[] = [];
    const { session } = await createTestSession((request) => {
      requests.push(request);
      return request.toolResults.length > 0 || requests.length > 1
        ? "done"
        : turn(toolCall("bash", { command: "sleep 0.2; echo finished" }));
    });
    const custom = { role: "custom", customType: "note", display: true, timestamp: 1 } as const;
    session.subscribe((event) => {
      if (event.type !== "tool_execution_start") return;
      void session.deliver({ ...custom, content: "by the way" }, "none");
    });
    await session.prompt("go");
    const sent = requests.at(-1)?.messages.map(({ role }) => role);
    expect(sent).toEqual(["user", "assistant", "toolResult", "user"]);
    expect(JSON.stringify(requests.at(-1)?.messages)).toContain("finished");
    expect(JSON.stringify(requests.at(-1)?.messages)).not.toContain("No result provided");
  });
});
