import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SettingsStore } from "@tau-agent/system";
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import { settlePermissions } from "../../src/permissions/permission-settings.ts";

let root: string;
let agentDirectory: string;
let cwd: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tau-settings-"));
  agentDirectory = join(root, "agent");
  cwd = join(root, "project");
  mkdirSync(agentDirectory);
  mkdirSync(cwd);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, value: unknown): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
  return path;
}
const putUser = (value: unknown) => put(join(agentDirectory, "settings.json"), value);
const putProject = (value: unknown) => put(join(cwd, ".pi", "settings.json"), value);
const load = (isProjectTrusted = true) =>
  SettingsStore.load({ agentDirectory, cwd, isProjectTrusted });

describe("reading settings", () => {
  it("returns defaults without files", async () => {
    const settings = await load();
    expect(settings.get("compaction.reserveTokens")).toBe(20_000);
    expect(settings.get("defaultModel")).toBeUndefined();
    expect(settings.diagnostics).toEqual([]);
    expectTypeOf(settings.get("interruptMode")).toEqualTypeOf<"immediate" | "wait">();
    expectTypeOf(settings.get("task.budget.maxCostUsd")).toEqualTypeOf<number | undefined>();
  });

  it("reads nested and dotted keys, even mixed", async () => {
    putUser({
      "task.budget.maxCostUsd": 1,
      "task.budget": { maxToolCalls: 5 },
      task: { budget: { warnAtRatio: 0.5 } },
    });
    const settings = await load();
    expect(settings.get("task.budget.maxCostUsd")).toBe(1);
    expect(settings.get("task.budget.maxToolCalls")).toBe(5);
    expect(settings.get("task.budget.warnAtRatio")).toBe(0.5);
    expect(settings.diagnostics).toEqual([]);
  });

  it("accepts a byte order mark, comments and trailing commas", async () => {
    putUser('\uFEFF{\n  // mine\n  "retry": { "maxRetries": 7, },\n}\n');
    const settings = await load();
    expect(settings.get("retry.maxRetries")).toBe(7);
    expect(settings.diagnostics).toEqual([]);
  });

  it("lets the project change one member of a group and keep the others", async () => {
    putUser({ compaction: { enabled: false, keepRecentTokens: 5 } });
    putProject({ compaction: { keepRecentTokens: 9 } });
    const settings = await load();
    expect(settings.get("compaction.enabled")).toBe(false);
    expect(settings.get("compaction.keepRecentTokens")).toBe(9);
  });

  it("merges objects whose keys are chosen by the user", async () => {
    putUser({ modelThinkingLevels: { "a/b": "low", "c/d": "high" } });
    putProject({ modelThinkingLevels: { "a/b": "off" } });
    expect((await load()).get("modelThinkingLevels")).toEqual({ "a/b": "off", "c/d": "high" });
  });

  it("reads omp.jsonc as well as settings.json, which takes precedence", async () => {
    put(
      join(agentDirectory, "omp.jsonc"),
      '{ "retry.maxRetries": 1, "interruptMode": "wait" /* x */ }',
    );
    putUser({ retry: { maxRetries: 2 } });
    const settings = await load();
    expect(settings.get("retry.maxRetries")).toBe(2);
    expect(settings.get("interruptMode")).toBe("wait");
  });

  it("reads queueMode of older files as steeringMode", async () => {
    putUser({ queueMode: "all" });
    expect((await load()).get("steeringMode")).toBe("all");
  });

  it("keeps the resource lists of both scopes and names the source of each entry", async () => {
    putUser({ skills: ["mine"] });
    putProject({ skills: ["ours"] });
    const settings = await load();
    expect(settings.get("skills")).toEqual(["ours", "mine"]);
    expect(settings.resources("skills")).toEqual([
      { entry: "ours", scope: "project", baseDirectory: join(cwd, ".pi") },
      { entry: "mine", scope: "user", baseDirectory: agentDirectory },
    ]);
  });
});

describe("problems in settings", () => {
  it("drops only a value of the wrong type, and names key, type and file", async () => {
    const path = putUser({ retry: { maxRetries: "3", baseDelayMs: 5 } });
    const settings = await load();
    expect(settings.get("retry.maxRetries")).toBe(3);
    expect(settings.get("retry.baseDelayMs")).toBe(5);
    expect(settings.diagnostics).toEqual([
      {
        severity: "error",
        path,
        member: "retry.maxRetries",
        reason: 'retry.maxRetries must be whole number ≥ 0, not "3"',
        message: `Setting retry.maxRetries must be whole number ≥ 0, not "3"; it is ignored (in ${path})`,
      },
    ]);
  });

  it("reports a group that is not an object", async () => {
    putUser({ compaction: 5 });
    const settings = await load();
    expect(settings.get("compaction.enabled")).toBe(true);
    expect(settings.diagnostics[0]?.message).toContain("compaction must be an object");
  });

  it("warns about an unknown key, but not about a terminal setting", async () => {
    putUser({ theme: "dark", compaction: { enabeld: true } });
    const { diagnostics } = await load();
    expect(diagnostics).toHaveLength(1);
    expect(diagnostics[0]?.message).toContain("Unknown setting compaction.enabeld");
  });

  it("accepts packages as pi writes them, and does not report terminal settings", async () => {
    const packages = ["npm:one", { source: "git:example.com/two", skills: ["*"] }];
    putUser({ packages, outputPad: 1, warnings: { anthropicExtraUsage: false }, tuiMode: "x" });
    const settings = await load();
    expect(settings.diagnostics).toEqual([]);
    expect(settings.get("packages")).toEqual(packages);
  });

  it("uses defaults when a file does not parse, and names the line", async () => {
    const path = putUser('{\n  "retry": {\n');
    const settings = await load();
    expect(settings.get("retry.maxRetries")).toBe(3);
    expect(settings.diagnostics).toMatchObject([{ severity: "error", path, line: 3 }]);
  });

  it.each([
    [
      "is too large",
      `{"permissions": {"rules": []}, "x": "${"x".repeat(1_100_000)}"}`,
      /larger than 1 MiB/,
    ],
    ["is nested too deeply", `{"x": ${"[".repeat(300)}${"]".repeat(300)}}`, /nested more than 200/],
    ["opens brackets without end", "[".repeat(200_000), /nested more than 200/],
    ["does so behind a comment", `// "\n${"[".repeat(200_000)}`, /nested more than 200/],
  ])("reads nothing of a file that %s", async (_, text, reason) => {
    putProject(text);
    const settings = await load();
    expect(settings.diagnostics).toMatchObject([{ message: expect.stringMatching(reason) }]);
  });

  it("treats an oversized project file as one that limits everything", async () => {
    putProject(`{"x": "${"x".repeat(1_100_000)}"}`);
    const { permissionFiles } = await load(false);
    const found = settlePermissions(permissionFiles, false);
    expect(found).toMatchObject({ mode: "ask", rules: [{ tool: "*", action: "deny" }] });
    expect(found.diagnostics[0]?.message).toMatch(
      /it is larger than 1 MiB; .*every call is denied/,
    );
  });

  it("does not let a file modify prototypes", async () => {
    putUser('{ "__proto__": { "polluted": 1 }, "modelThinkingLevels": { "__proto__": "high" } }');
    putProject('{ "modelThinkingLevels": { "__proto__": "low" } }');
    const settings = await load();
    settings.get("modelThinkingLevels");
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});

describe("trust", () => {
  it("leaves out project settings, including sessionDir, until the project is trusted", async () => {
    putProject({ retry: { maxRetries: 9 }, sessionDir: "/elsewhere", bogus: 1 });
    const settings = await load(false);
    expect(settings.get("retry.maxRetries")).toBe(3);
    expect(settings.get("sessionDir")).toBeUndefined();
    expect(settings.diagnostics).toEqual([]);
    settings.trustProject();
    expect(settings.get("sessionDir")).toBe("/elsewhere");
    expect(settings.get("retry.maxRetries")).toBe(9);
  });

  it("does not let a project decide about its own trust", async () => {
    putProject({ defaultProjectTrust: "always" });
    const settings = await load();
    expect(settings.get("defaultProjectTrust")).toBe("ask");
    expect(settings.diagnostics[0]?.message).toContain("defaultProjectTrust");
  });
});

describe("changing settings", () => {
  it("overrides a value for the session without changing a file", async () => {
    const path = putUser({ steeringMode: "one-at-a-time" });
    const before = readFileSync(path, "utf8");
    const settings = await load();
    settings.override("steeringMode", "all");
    expect(settings.get("steeringMode")).toBe("all");
    settings.override("steeringMode", undefined);
    expect(settings.get("steeringMode")).toBe("one-at-a-time");
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  it("refuses an invalid override", () => {
    const settings = SettingsStore.inMemory();
    expect(() => settings.override("retry.maxRetries", -1)).toThrow(/retry\.maxRetries must be/);
  });

  it("saves only changed values and keeps comments, dotted keys and concurrent edits", async () => {
    putUser("{}");
    const settings = await load();
    const path = putUser(
      '{\n  // chosen by hand\n  "task.budget.maxCostUsd": 1,\n  "retry": { "enabled": false }\n}\n',
    );
    await settings.save("user", {
      "task.budget.maxCostUsd": 2,
      "retry.maxRetries": 5,
      "ttsr.repeatGap": 4,
    });
    const text = readFileSync(path, "utf8");
    expect(text).toContain("// chosen by hand");
    expect(text).toContain('"task.budget.maxCostUsd": 2');
    const saved = await load();
    expect(saved.get("retry.enabled")).toBe(false);
    expect(saved.get("retry.maxRetries")).toBe(5);
    expect(saved.get("ttsr.repeatGap")).toBe(4);
    expect(saved.diagnostics).toEqual([]);
  });

  it("removes a key", async () => {
    const path = putUser({ defaultModel: "x", defaultProvider: "y" });
    const settings = await load();
    await settings.save("user", { defaultModel: undefined });
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ defaultProvider: "y" });
  });

  it("leaves a file that does not parse unchanged", async () => {
    const path = putUser("{ broken");
    const settings = await load();
    const saving = settings.save("user", { defaultModel: "x" });
    await expect(saving).rejects.toMatchObject({ code: "invalid_settings" });
    expect(readFileSync(path, "utf8")).toBe("{ broken");
  });

  it("appends to a list and keeps its comments, and creates a missing list", async () => {
    const path = putUser('{\n  "enabledModels": [\n    // the cheap one\n    "a/b"\n  ]\n}\n');
    const settings = await load();
    await settings.append("user", "enabledModels", "c/d");
    await settings.append("user", "skills", "x");
    expect(readFileSync(path, "utf8")).toContain("// the cheap one");
    expect(settings.get("enabledModels")).toEqual(["a/b", "c/d"]);
    expect(settings.resources("skills").map(({ entry }) => entry)).toEqual(["x"]);
    const wrong = settings.append("user", "enabledModels", 1);
    await expect(wrong).rejects.toMatchObject({ code: "invalid_settings" });
    putUser('{"enabledModels": "a/b"}');
    const elsewhere = settings.append("user", "enabledModels", "c/d");
    await expect(elsewhere).rejects.toThrow(/enabledModels must be a list/);
    expect(readFileSync(path, "utf8")).toBe('{"enabledModels": "a/b"}');
  });

  it("loses nothing when two stores save at the same time", async () => {
    const [one, two] = await Promise.all([load(), load()]);
    await Promise.all([
      one.save("user", { defaultModel: "m" }),
      two.save("user", { defaultProvider: "p" }),
    ]);
    const settings = await load();
    expect([settings.get("defaultModel"), settings.get("defaultProvider")]).toEqual(["m", "p"]);
  });
});

describe("settings without files", () => {
  it("may be nested, and contain unknown settings", () => {
    const values = {
      retry: { maxRetries: 1, maxretries: 2 },
      "compaction.enabled": false,
      nope: 1,
    };
    const settings = SettingsStore.inMemory(values as never);
    expect(settings.get("retry.maxRetries")).toBe(1);
    expect(settings.get("compaction.enabled")).toBe(false);
    expect(settings.diagnostics.map(({ message }) => message)).toEqual([
      "Unknown setting retry.maxretries; the nearest is retry.maxRetries (in the settings of this session)",
      "Unknown setting nope (in the settings of this session)",
    ]);
  });

  it("are refused when a value is invalid", () => {
    const values = { "retry.maxRetries": "many" } as never;
    expect(() => SettingsStore.inMemory(values)).toThrow("retry.maxRetries must be");
  });
});
