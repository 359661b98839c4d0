import type { CreateElicitationRequest, RequestPermissionRequest } from "@agentclientprotocol/sdk";
import { expect, it } from "vitest";
import { Editor } from "./support/acp-editor.ts";

const questions = [
  { question: "Which?", options: [{ label: "This", description: "as ever" }, { label: "That" }] },
  { question: "What else?", options: [{ label: "A" }, { label: "B" }], multiSelect: true },
];
const call = { type: "toolCall" as const, name: "ask_user", arguments: { questions } };
const scenario = [{ content: [call] }, "Done."];

function outcome(editor: Editor, sessionId: string) {
  const ends = editor.of(sessionId, "tool_call_update").filter(({ content }) => content);
  return JSON.stringify(ends.at(-1)?.content);
}

it("asks a question as a form if the editor supports forms", async () => {
  const asked: CreateElicitationRequest[] = [];
  const editor = await Editor.start({
    capabilities: { elicitation: { form: {} } },
    scenario,
    answers: (app) =>
      app.onRequest("elicitation/create", ({ params }) => {
        asked.push(params);
        return {
          action: "accept",
          content: { answer1: "That", answer2: ["A", "B"], text2: "and C" },
        };
      }),
  });
  const { sessionId } = await editor.open();
  expect(await editor.prompt(sessionId, "go")).toEqual({ stopReason: "end_turn" });
  expect(asked).toMatchObject([
    {
      sessionId,
      mode: "form",
      message: "Which?\nWhat else?",
      requestedSchema: {
        properties: {
          answer1: { type: "string", enum: ["This", "That"], description: "Which?\nThis: as ever" },
          text1: { type: "string" },
          answer2: { type: "array", items: { enum: ["A", "B"] } },
        },
      },
    },
  ]);
  const text = outcome(editor, sessionId);
  for (const said of ["That", "- A", "- B", "and C"]) expect(text).toContain(said);
});

it("asks a question as a permission dialog if it does not", async () => {
  const asked: RequestPermissionRequest[] = [];
  const editor = await Editor.start({
    scenario,
    answers: (app) =>
      app.onRequest("session/request_permission", ({ params }) => {
        asked.push(params);
        return { outcome: { outcome: "selected", optionId: asked.length === 1 ? "1" : "none" } };
      }),
  });
  const { sessionId } = await editor.open();
  expect(await editor.prompt(sessionId, "go")).toEqual({ stopReason: "end_turn" });
  expect(asked.map(({ options }) => options.map(({ name }) => name))).toEqual([
    ["This", "That", "No answer"],
    ["A", "B", "No answer"],
  ]);
  expect(asked[0]?.toolCall).toMatchObject({ title: "Which?" });
  expect(outcome(editor, sessionId)).toContain("No answer");
});

it.each(["decline", "cancel"] as const)(
  "treats a form that ends with %s as unanswered",
  async (action) => {
    const editor = await Editor.start({
      capabilities: { elicitation: { form: {} } },
      scenario,
      answers: (app) => app.onRequest("elicitation/create", () => ({ action })),
    });
    const { sessionId } = await editor.open();
    expect(await editor.prompt(sessionId, "go")).toEqual({ stopReason: "end_turn" });
    const text = outcome(editor, sessionId);
    for (const label of ["This", "That"]) expect(text).not.toContain(`- ${label}`);
  },
);

it("ends a question when the editor cancels the turn", async () => {
  const shown = Promise.withResolvers<void>();
  const editor = await Editor.start({
    capabilities: { elicitation: { form: {} } },
    scenario,
    answers: (app) =>
      app.onRequest("elicitation/create", () => {
        shown.resolve();
        return new Promise<never>(() => {});
      }),
  });
  const { sessionId } = await editor.open();
  const turn = editor.prompt(sessionId, "go");
  await shown.promise;
  await editor.agent.notify("session/cancel", { sessionId });
  expect(await turn).toEqual({ stopReason: "cancelled" });
});
