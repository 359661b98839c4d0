import { describe, expect, it } from "vitest";
import { settlePermissions } from "./permission-settings.ts";

const user = (value: unknown) => ({ path: "/u/settings.json", scope: "user", value }) as const;
const project = (value: unknown) =>
  ({ path: "/p/settings.json", scope: "project", value }) as const;

describe("permissions in settings files", () => {
  it("allow all by default, and wait five minutes", () => {
    expect(settlePermissions([], false)).toMatchObject({
      mode: "all",
      rules: [],
      onTimeout: "deny",
      timeoutMs: 300_000,
      diagnostics: [],
    });
  });

  it("replace the user's mode in a trusted project, and all rules apply", () => {
    const files = [
      user({ mode: "ask", rules: [{ tool: "bash", match: "git *", action: "allow" }] }),
      project({ mode: "all", rules: [{ tool: "write", action: "allow" }], timeoutMs: 5 }),
    ];
    expect(settlePermissions(files, true)).toMatchObject({
      mode: "all",
      timeoutMs: 5,
      rules: [{ source: "user" }, { source: "project" }],
    });
  });

  it("only tighten in an untrusted project", () => {
    const rules = ["allow", "ask", "deny"].map((action) => ({ tool: "bash", action }));
    const files = [
      user({ mode: "ask" }),
      project({ mode: "all", rules, timeoutMs: 0, onTimeout: "cancel" }),
    ];
    expect(settlePermissions(files, false)).toMatchObject({
      mode: "ask",
      timeoutMs: 300_000,
      onTimeout: "deny",
      rules: [{ action: "ask" }, { action: "deny" }],
    });
    expect(settlePermissions([project({ mode: "readOnly" })], false).mode).toBe("readOnly");
  });

  it.each([
    [{ rules: [{ tool: "bash", action: "never" }] }, "permissions.rules[0].action"],
    [{ rules: [{ tool: "ls", action: "deny" }, { action: "deny" }] }, "permissions.rules[1].tool"],
    [{ rules: [{ tool: "task", match: "x", action: "deny" }] }, "permissions.rules[0].match"],
    [{ rules: [{ tool: "bash", match: 5, action: "deny" }] }, "permissions.rules[0].match"],
    [{ rules: ["bash"] }, "permissions.rules[0]"],
    [{ rules: {} }, "permissions.rules"],
    [{ mode: "yolo" }, "permissions.mode"],
    [{ onTimeout: "allow" }, "permissions.onTimeout"],
    [{ timeoutMs: -1 }, "permissions.timeoutMs"],
    ["ask", "permissions"],
  ])(
    "name a mistake, drop only the wrong member, and make the mode stricter: %j",
    (value, name) => {
      const found = settlePermissions([user(value)], false);
      expect(found.mode).toBe("ask");
      expect(found.diagnostics).toMatchObject([
        { severity: "error", code: "invalid_settings", path: "/u/settings.json" },
      ]);
      expect(found.diagnostics[0]?.message).toContain(`${name}:`);
    },
  );

  it("keep a stricter mode and the other rules despite a mistake", () => {
    const rules = [
      { tool: "bash", action: "no" },
      { tool: "bash", match: "rm *", action: "deny" },
    ];
    expect(settlePermissions([user({ mode: "readOnly", rules })], false)).toMatchObject({
      mode: "readOnly",
      rules: [{ match: "rm *" }],
    });
  });
});

describe("oversized permission rules", () => {
  const denied = { tool: "*", action: "deny" };

  it("deny every call if some of them restrict", () => {
    const rules = Array.from({ length: 30_000 }, (_, at) => ({
      tool: "bash",
      match: `*${at}*${"x".repeat(20)}`,
      action: "deny",
    }));
    const found = settlePermissions([project({ rules })], false);
    expect(found.rules).toHaveLength(2001);
    expect(found.rules.at(-1)).toMatchObject(denied);
    expect(found.diagnostics[0]?.message).toMatch(
      /permissions\.rules: expected at most 2000 rules, got 30000; .*every call is denied/,
    );
  });

  it("are cut off if they only allow", () => {
    const rules = Array.from({ length: 2500 }, (_, at) => ({
      tool: "bash",
      match: `a${at}`,
      action: "allow",
    }));
    const found = settlePermissions([user({ rules })], false);
    expect(found.rules).toHaveLength(2000);
    expect(found.mode).toBe("ask");
  });

  it("deny their tool if a pattern is too long", () => {
    const match = `*${"x".repeat(5000)}`;
    const rules = ["allow", "ask", "deny"].map((action) => ({ tool: "bash", match, action }));
    const found = settlePermissions([user({ rules })], false);
    const bash = { tool: "bash", action: "deny" };
    expect(found.rules).toMatchObject([bash, bash]);
    expect(found.diagnostics.map(({ message }) => message)).toEqual([
      expect.stringContaining("rules[0].match: expected at most 4096 characters"),
      expect.stringContaining("every call of bash is denied"),
      expect.stringContaining("every call of bash is denied"),
    ]);
  });
});
