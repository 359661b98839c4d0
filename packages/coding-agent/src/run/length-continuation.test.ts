import { type ScenarioRequest, toolCall, turn } from "@tau-agent/ai/testing";
import { describe, expect, it } from "vitest";
import { createTestSession, isType } from "../create/__fixtures__/test-session.ts";

const cut = (text: string) => turn(text, { stopReason: "length" });

describe("a reply cut by the output limit", () => {
  it("is continued by one request that ends with the host's message", async () => {
    const requests: ScenarioRequest[] = [];
    const { session, events } = await createTestSession((request) => {
      requests.push(request);
      return requests.length === 1 ? cut("one, two,") : " three";
    });
    expect(await session.prompt("count")).toMatchObject({ status: "completed" });
    expect(requests).toHaveLength(2);
    expect(requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(requests[1]?.lastUserText).toContain("Continue exactly where the text stopped");
    expect(events.filter(isType("auto_continue"))).toEqual([
      { type: "auto_continue", reason: "length" },
    ]);
    expect(events.filter(isType("prompt_result"))).toHaveLength(1);
    expect(session.messages.at(-2)).toMatchObject({ role: "custom", display: false });
  });

  it("ends with stop reason length if it is cut again", async () => {
    const { session, events } = await createTestSession(() => cut("more"));
    expect(await session.prompt("count", { id: "1" })).toMatchObject({ status: "completed" });
    expect(session.messages.at(-1)).toMatchObject({ role: "assistant", stopReason: "length" });
    expect(events.filter(isType("auto_continue"))).toHaveLength(1);
    expect(events.filter(isType("prompt_result"))).toHaveLength(1);
    await session.prompt("again");
    expect(events.filter(isType("auto_continue"))).toHaveLength(2);
  });

  it("stays cut if the setting says so", async () => {
    const { session, events } = await createTestSession(() => cut("more"));
    session.settings.override("continueOnLength", false);
    await session.prompt("count");
    expect(session.messages).toHaveLength(2);
    expect(events.filter(isType("auto_continue"))).toEqual([]);
  });

  it("has tool calls that neither run nor are sent back", async () => {
    const requests: ScenarioRequest[] = [];
    const { session, events } = await createTestSession((request) => {
      requests.push(request);
      const call = toolCall("bash", { command: "echo ran" });
      return requests.length === 1 ? turn(["text", call], { stopReason: "length" }) : "done";
    });
    await session.prompt("go");
    expect(JSON.stringify(requests[1]?.messages)).not.toContain("echo ran");
    expect(events.filter(isType("tool_execution_end"))).toMatchObject([{ isError: true }]);
  });
});
