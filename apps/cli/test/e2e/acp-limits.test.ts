import type { CreateElicitationRequest, CreateElicitationResponse } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { Editor } from "../support/acp-editor.ts";

const bash = (command: string) => ({
  content: [{ type: "toolCall" as const, name: "bash", arguments: { command } }],
});
const scenario = [bash("echo one"), bash("echo two"), "All done."];

function start(
  onExceeded: "stop" | "ask",
  answer?: (asked: CreateElicitationRequest) => CreateElicitationResponse,
): Promise<Editor> {
  const settings = { "task.budget.maxToolCalls": 1, "task.budget.onExceeded": onExceeded };
  return Editor.start({
    isBuilt: true,
    scenario,
    files: { "agent/settings.json": JSON.stringify(settings) },
    capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
    answers: (app) => {
      if (answer) app.onRequest("elicitation/create", ({ params }) => answer(params));
    },
  });
}

const said = "tool_calls reached 2 of 1 (task.budget.maxToolCalls)";

describe("an exhausted budget", () => {
  it("ends the turn with its own stop reason and explains how to raise the budget", async () => {
    const editor = await start("stop");
    const { sessionId } = await editor.open();
    expect(await editor.prompt(sessionId, "go")).toEqual({ stopReason: "max_turn_requests" });
    expect(editor.text(sessionId, "agent_message_chunk")).toContain(said);
    await expect(editor.prompt(sessionId, "more")).rejects.toMatchObject({
      message: expect.stringContaining(said),
      data: { code: "budget_exceeded" },
    });
  });

  it("is asked as a form: no ends the turn, yes continues it", async () => {
    const answers = ["Stop", "Continue with 2"];
    const asked: string[] = [];
    const next = (question: CreateElicitationRequest): CreateElicitationResponse => {
      asked.push(question.message);
      return { action: "accept", content: { value: answers.shift() ?? "" } };
    };
    const refused = await start("ask", next);
    const { sessionId } = await refused.open();
    expect(await refused.prompt(sessionId, "go")).toEqual({ stopReason: "max_turn_requests" });
    const raised = await start("ask", next);
    const second = await raised.open();
    expect(await raised.prompt(second.sessionId, "go")).toEqual({ stopReason: "end_turn" });
    expect(raised.text(second.sessionId, "agent_message_chunk")).toBe("All done.");
    expect(new Set(asked)).toEqual(new Set(["Budget: 1 of 1 tool calls used. Continue?"]));
  });

  it("reports a cancelled turn if the editor cancels meanwhile", async () => {
    const editor = await Editor.start({
      isBuilt: true,
      scenario: [bash("echo one"), bash("sleep 660")],
      files: { "agent/settings.json": JSON.stringify({ "task.budget.maxToolCalls": 2 }) },
    });
    const { sessionId } = await editor.open();
    const running = editor.prompt(sessionId, "go");
    await editor.until(() => Object.keys(editor.states(sessionId)).length === 2);
    await editor.agent.notify("session/cancel", { sessionId });
    expect(await running).toEqual({ stopReason: "cancelled" });
  });
});
