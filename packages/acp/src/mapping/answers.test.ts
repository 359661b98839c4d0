import type { PermissionOption } from "@agentclientprotocol/sdk";
import type { ExtensionUiRequest, PromptResult } from "@tau-agent/coding-agent";
import { describe, expect, it } from "vitest";
import { configOptions } from "./config.ts";
import { dialogAnswer, dialogForm } from "./dialog-form.ts";
import { permissionAnswer, permissionOptions } from "./permission.ts";
import { planUpdate } from "./plan.ts";
import { turnEnd } from "./stop-reason.ts";
import { usageUpdate } from "./usage.ts";

describe("stop reasons", () => {
  const reply = (stopReason: string) => ({ role: "assistant", stopReason, content: [] });
  const result = (given: object): PromptResult =>
    ({ id: undefined, status: "completed", text: "", messages: [], ...given }) as PromptResult;

  it.each([
    [{ messages: [reply("stop")] }, "end_turn"],
    [{ messages: [reply("length")] }, "max_tokens"],
    [{ messages: [reply("length"), reply("stop")] }, "end_turn"],
    [{ status: "handled" }, "end_turn"],
    [{ status: "aborted" }, "cancelled"],
    [{ status: "error", error: "no", code: "content_filtered" }, "refusal"],
  ])("maps %j to %s", (given, stopReason) => {
    expect(turnEnd(result(given))).toMatchObject({ stopReason });
  });

  it("reports a used-up limit as max_turn_requests, not as cancelled", () => {
    const stopped = result({ status: "aborted" });
    const text = "The budget is used up";
    expect(turnEnd(stopped, text)).toEqual({ stopReason: "max_turn_requests", text });
    expect(turnEnd(result({}), text)).toMatchObject({ stopReason: "end_turn" });
  });

  it.each([
    [{ error: "bad key", code: "auth" }, -32000],
    [{ error: "too busy", code: "overloaded" }, -32603],
    [{ error: "disk full" }, -32603],
  ])("turns the failure %j into an error", (given, code) => {
    const failed = result({ status: "error", ...given });
    expect(() => turnEnd(failed)).toThrow(expect.objectContaining({ code, message: given.error }));
  });
});

describe("permission answers", () => {
  const params = { toolName: "bash", input: {}, cwd: "/", title: "", reason: "" };
  const rule = { tool: "bash", match: "x", action: "allow" as const };
  const all: PermissionOption[] = permissionOptions({ ...params, suggestions: [rule] });

  it("offers lasting options only if a rule can express them", () => {
    expect(all.map(({ kind }) => kind)).toEqual([
      "allow_once",
      "allow_always",
      "reject_once",
      "reject_always",
    ]);
    const few = permissionOptions({ ...params, suggestions: [] });
    expect(few.map(({ kind }) => kind)).toEqual(["allow_once", "reject_once"]);
    const outcome = { outcome: "selected" as const, optionId: "allow_always" };
    expect(permissionAnswer(outcome, few).result).toEqual({ decision: "deny" });
  });

  it.each([undefined, { outcome: "cancelled" as const }])("treats %j as a denial", (outcome) => {
    expect(permissionAnswer(outcome, all)).toEqual({
      result: { decision: "deny" },
      deniesFromNowOn: false,
    });
  });
});

describe("dialogs", () => {
  const head = { type: "extension_ui_request" as const, id: "1", title: "T" };
  const select: ExtensionUiRequest = { ...head, method: "select", options: ["a", "b"] };
  const confirm: ExtensionUiRequest = { ...head, method: "confirm", message: "M" };
  const input: ExtensionUiRequest = { ...head, method: "input" };

  it.each([
    [select, { action: "accept" as const, content: { value: "b" } }, { value: "b" }],
    [select, { action: "accept" as const, content: { value: "c" } }, { cancelled: true }],
    [confirm, { action: "accept" as const, content: { value: true } }, { confirmed: true }],
    [confirm, { action: "accept" as const, content: {} }, { confirmed: false }],
    [confirm, { action: "decline" as const }, { cancelled: true }],
    [input, { action: "accept" as const, content: { value: "" } }, { value: "" }],
    [input, { action: "accept" as const, content: { value: 5 } }, { cancelled: true }],
    [input, undefined, { cancelled: true }],
  ])("maps %j answered with %j", (dialog, answer, wanted) => {
    expect(dialogForm(dialog)?.requestedSchema.required).toEqual(["value"]);
    expect(dialogAnswer(dialog, answer)).toEqual(wanted);
  });

  it("have no form if they ask nothing", () => {
    expect(dialogForm({ ...head, method: "setTitle" })).toBeUndefined();
  });
});

it("a session without a model offers no choice of models and reports no context window", () => {
  const choices = {
    model: undefined,
    models: [],
    thinkingLevel: "off",
    thinkingLevels: ["off"],
  } as const;
  expect(configOptions(choices).map(({ id }) => id)).toEqual(["thinking"]);
  expect(usageUpdate({ tokens: 5, contextWindow: undefined, cost: 1 })).toEqual([]);
});

it("abandoned todos are left out of the plan", () => {
  const todos = [
    { content: "a", status: "abandoned" as const },
    { content: "b", status: "pending" as const },
  ];
  expect(planUpdate(todos)).toMatchObject({ entries: [{ content: "b" }] });
});
