import { readFileSync } from "node:fs";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import { SettingsStore } from "@tau-agent/system";
import { describe, expect, it, onTestFinished } from "vitest";
import { Workspace } from "../../../../system/src/processes/__fixtures__/workspace.ts";
import type { SettingValues } from "../../../../system/src/settings/schema.ts";
import { runVerification } from "./run-verification.ts";
import { readVerifyRequest } from "./verify-config.ts";

const settings = (values: SettingValues = {}) =>
  SettingsStore.inMemory({
    "task.verification.enabled": true,
    "task.verification.defaultProfile": "ci",
    "task.verification.profiles": {
      ci: {
        mode: "command",
        commands: [{ name: "types", command: "true" }],
        onFailure: "retry_once",
      },
    },
    ...values,
  });
const isThere = (pid: number): boolean => {
  // A killed process that has not been reaped has no command line any more.
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
};
const planOf = (verify: unknown, values?: SettingValues) => {
  const request = readVerifyRequest(verify, true, settings(values));
  return request.kind === "plan" ? request.plan : request.kind;
};

describe("the verify argument", () => {
  it("is interpreted as documented in each of its forms", () => {
    expect(planOf(undefined)).toBe("off");
    expect(planOf(false)).toBe("off");
    for (const verify of [true, "", "ci"]) {
      expect(planOf(verify)).toMatchObject({
        profile: "ci",
        onFailure: "retry_once",
        maxRetries: 1,
      });
    }
    const inline = {
      commands: [{ command: "x", optional: true, timeoutMs: 5 }],
      onFailure: "discard_patch",
    };
    expect(planOf(inline)).toEqual({
      profile: undefined,
      mode: "command",
      commands: [{ name: "command 1", command: "x", optional: true, timeoutMs: 5 }],
      onFailure: "discard_patch",
      maxRetries: 1,
    });
    const standard = [planOf({ profile: "" }), planOf({ profile: true })];
    expect(standard).toEqual([planOf("ci"), planOf("ci")]);
    const both = planOf({ profile: "ci", commands: [{ name: "extra", command: "y" }] });
    expect(both).toMatchObject({ profile: "ci", commands: [{ name: "types" }, { name: "extra" }] });
  });

  it("is required for isolated tasks if the settings say so", () => {
    expect(planOf(undefined, { "task.verification.requireForIsolated": true })).toMatchObject({
      profile: "ci",
    });
    expect(planOf(false, { "task.verification.requireForIsolated": true })).toMatchObject({
      profile: "ci",
    });
  });

  it("does nothing while the master switch is off", () => {
    expect(planOf(true, { "task.verification.enabled": false })).toBe("disabled");
  });

  it.each([
    ["nowhere", /no verification profile "nowhere".*ci/],
    [{ profile: "nowhere" }, /nowhere/],
    [{ commands: [] }, /runs nothing/],
    [{ commands: [{ name: "x" }] }, /commands\[0\]\.command/],
    [{ commands: [{ command: "x", timeoutMs: -1 }] }, /timeoutMs/],
    [{ commands: [{ command: "x" }], onFailure: "shrug" }, /onFailure/],
    [7, /verify must be/],
  ])("reports the mistake in %j", (verify, words) => {
    expect(() => planOf(verify)).toThrow(words);
  });

  it("needs an isolated task", () => {
    expect(() => readVerifyRequest(true, false, settings())).toThrow(/isolated/);
  });
});

describe("a verification", () => {
  async function verify(
    commands: object[],
    options: { spent?: boolean; signal?: AbortSignal } = {},
  ) {
    const workspace = new Workspace();
    onTestFinished(() => workspace[Symbol.dispose]());
    const plan = planOf({ commands });
    const events: SessionEvent[] = [];
    if (typeof plan === "string") throw new TypeError(plan);
    const result = await runVerification({
      id: "t1",
      attempt: 1,
      plan,
      environment: workspace.environment(),
      artifactsFolder: workspace.spillDirectory,
      fileName: "x",
      signal: options.signal ?? new AbortController().signal,
      emit: (event) => void events.push(event),
      isBudgetExceeded: () => options.spent ?? false,
    });
    return { result, events, workspace };
  }

  it("uses the commands' own exit codes and keeps their output", async () => {
    const { result, events, workspace } = await verify([
      { name: "good", command: "pwd" },
      { name: "bad", command: "seq 1 100; echo trouble >&2; exit 3" },
      { name: "missing", command: "no-such-program-here" },
    ]);
    expect(result.status).toBe("failed");
    const [good, bad, missing] = result.commandResults;
    expect(good).toMatchObject({ exitCode: 0, outputPreview: `${workspace.directory}\n` });
    expect(bad).toMatchObject({ name: "bad", exitCode: 3 });
    expect(bad?.outputPreview?.trimEnd().split("\n")).toHaveLength(20);
    expect(readFileSync(bad?.artifactPath ?? "", "utf8")).toContain("1\n2\n3\n");
    expect(missing?.exitCode).toBe(127);
    expect(events.map(({ type }) => type)).toEqual([
      "subagent_verification_start",
      ...Array.from({ length: 3 }, () => [
        "subagent_verification_command_start",
        "subagent_verification_command_end",
      ]).flat(),
      "subagent_verification_end",
    ]);
  });

  it("lets background processes serve later commands, and ends them with the attempt", async () => {
    const { result, workspace } = await verify([
      { name: "serve", command: "sleep 630 & echo $! > server.pid" },
      { name: "daemon", command: "setsid sh -c 'echo $$ > daemon.pid; exec sleep 630' &" },
      { name: "is served", command: "sleep 0.1; kill -0 $(cat server.pid) $(cat daemon.pid)" },
    ]);
    expect(result.status).toBe("passed");
    for (const name of ["server.pid", "daemon.pid"]) {
      const pid = Number(workspace.read(name));
      await expect.poll(() => isThere(pid), { timeout: 3_000 }).toBe(false);
    }
  });

  it("passes if only an optional command fails", async () => {
    const { result } = await verify([
      { name: "may fail", command: "exit 1", optional: true },
      { name: "must not", command: "true" },
    ]);
    expect(result).toMatchObject({
      status: "passed",
      commandResults: [{ optional: true, exitCode: 1 }, {}],
    });
  });

  it("fails when a command times out, and kills all of its processes", async () => {
    const { result } = await verify([{ command: "sleep 630 & sleep 630", timeoutMs: 50 }]);
    expect(result).toMatchObject({
      status: "failed",
      commandResults: [{ timedOut: true, exitCode: 124 }],
    });
    expect(result.endedAt - result.startedAt).toBeLessThan(5000);
  });

  it("counts as skipped, never as passed, if it was aborted or the budget ran out", async () => {
    const aborted = await verify([{ command: "true" }], { signal: AbortSignal.abort() });
    expect(aborted.result).toMatchObject({ status: "skipped", error: "The task was aborted." });
    const spent = await verify([{ command: "true" }], { spent: true });
    expect(spent.result).toMatchObject({ status: "skipped", error: "The budget ran out." });
    expect(spent.events.at(-1)).toMatchObject({ status: "budget_exceeded" });
  });
});
