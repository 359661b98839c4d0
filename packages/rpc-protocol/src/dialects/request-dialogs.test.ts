import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PendingRequest } from "../vocabulary/host-request.ts";
import { titleOfCall } from "./approval-title.ts";
import { asDialog, resultOfDialog } from "./request-dialogs.ts";

type Approval = Extract<PendingRequest, { method: "tool_approval" }>;

function approval(command: string, members: Partial<Approval> = {}, suggestions = 1): Approval {
  const suggestion = { tool: "bash", match: command, action: "allow" } as const;
  return {
    id: "r1",
    method: "tool_approval",
    onTimeout: "deny",
    params: {
      toolName: "bash",
      input: { command },
      cwd: "/work",
      title: "",
      reason: "",
      suggestions: Array.from({ length: suggestions }, () => suggestion),
    },
    ...members,
  };
}

describe("an approval as a dialog", () => {
  it("has the id of the request, its command, the options and the remaining time", () => {
    expect(asDialog(approval("npm test", { deadlineAt: 5000 }), 2000)).toEqual({
      type: "extension_ui_request",
      id: "r1",
      method: "select",
      title: "Allow bash: npm test?",
      options: ["Allow once", "Allow for this session", "Deny"],
      timeout: 3000,
    });
  });

  it("names the subagent, and offers no session-wide answer if no rule can match", () => {
    const dialog = asDialog(approval("ls", { agentId: "a/b" }, 0), 0);
    expect(dialog).toMatchObject({
      title: "Allow bash (agent a/b): ls?",
      options: ["Allow once", "Deny"],
    });
    expect(dialog).not.toHaveProperty("timeout");
  });

  it.each([
    ["Allow once", { decision: "allow", scope: "once" }],
    ["Allow for this session", { decision: "allow", scope: "session" }],
    ["Deny", { decision: "deny" }],
    ["allow once", { decision: "deny", message: "allow once" }],
    ["use npm ci instead", { decision: "deny", message: "use npm ci instead" }],
    ["", { decision: "deny" }],
  ])("converts %j to %j", (value, result) => {
    expect(resultOfDialog(approval("x"), { value })).toEqual(result);
  });

  it("treats every other answer as a denial", () => {
    const others = [{}, { cancelled: true, value: "Allow once" }, { confirmed: true }];
    for (const other of others) {
      expect(resultOfDialog(approval("x"), other)).toEqual({ decision: "deny" });
    }
    expect(resultOfDialog(approval("x", {}, 0), { value: "Allow for this session" })).toMatchObject(
      { decision: "deny" },
    );
  });
});

describe("the title of a call", () => {
  const title = (command: string) => titleOfCall({ toolName: "bash", input: { command } });

  it("shows the path, or all arguments as JSON", () => {
    expect(titleOfCall({ toolName: "write", input: { path: "a.ts", content: "x" } })).toBe(
      "Allow write: a.ts?",
    );
    expect(titleOfCall({ toolName: "deploy", input: { to: "prod" } })).toBe(
      'Allow deploy: {"to":"prod"}?',
    );
  });

  it("escapes characters that would deceive the reader, and keeps line ends", () => {
    expect(title("a\u001b[2K\rb\u202ec\nd\u0000\u2066")).toBe(
      String.raw`Allow bash: a\u001B[2K\u000Db\u202Ec` + "\n" + String.raw`d\u0000\u2066?`,
    );
  });

  it("is complete up to 4000 characters, and contains both ends of a longer command", () => {
    const whole = "x".repeat(4000);
    expect(title(whole)).toBe(`Allow bash: ${whole}?`);
    const long = `begin ${"y".repeat(10_000)} && rm -rf /`;
    expect(title(long)).toMatch(
      /^Allow bash: begin y+… \(\d+ characters left out\) …y+ && rm -rf \/\?$/,
    );
    expect(title(long).length).toBeLessThan(4100);
  });

  it("never contains a control character except line ends, however long", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 9000 }), (command) => {
        expect(title(command)).not.toMatch(
          /[^\P{Cc}\n]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u,
        );
      }),
    );
  });
});

describe("a budget as a dialog", () => {
  const request: PendingRequest = {
    id: "b1",
    method: "budget",
    onTimeout: "cancel",
    params: {
      dimension: "tool_calls",
      limit: 10,
      used: 10,
      setting: "task.budget.maxToolCalls",
      scope: "session",
      title: "10 tool calls are used up",
    },
  };

  it("offers twice the limit, or stopping", () => {
    expect(asDialog(request, 0)).toMatchObject({ options: ["Continue with 20", "Stop"] });
    expect(resultOfDialog(request, { value: "Continue with 20" })).toEqual({ limit: 20 });
    expect(resultOfDialog(request, { value: "Continue" })).toEqual({ stop: true });
    expect(resultOfDialog(request, {})).toEqual({ stop: true });
  });
});
