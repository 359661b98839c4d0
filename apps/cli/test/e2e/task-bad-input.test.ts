import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startMemoryHost } from "../support/memory-host.ts";
import type { Place } from "../support/place.ts";
import { call, git, repositoryPlace, worker } from "../support/repository-place.ts";
import { startHost } from "../support/start-host.ts";

const verified = { "task.verification.enabled": true };
const change = worker("<w>", call("write", { path: "notes.txt", content: "the task's\n" }));

/** The user's complete state: index, refs, status and the files themselves. */
function stateOf({ cwd }: Place): object {
  const files = git(cwd, "ls-files", "-z", "--cached", "--others").split("\0").filter(Boolean);
  const hashes = files.map((file) => {
    const path = join(cwd, file);
    const content = existsSync(path) ? readFileSync(path) : "";
    return `${file} ${createHash("sha256").update(content).digest("hex")}`;
  });
  return {
    hashes,
    index: git(cwd, "ls-files", "--stage"),
    refs: git(cwd, "for-each-ref"),
    status: git(cwd, "status", "--porcelain"),
  };
}

/** Has the model call `task` with `args`; returns the result of the call and of the run. */
async function callTask(
  args: Record<string, unknown>,
  options: { settings?: Record<string, unknown>; prepare?: (place: Place) => void } = {},
) {
  const place = repositoryPlace([...change, ...worker("start", call("task", args))], {
    ...options.settings,
  });
  options.prepare?.(place);
  const before = stateOf(place);
  const host = await startMemoryHost({}, place);
  host.send({ type: "prompt", message: "start" });
  const end = await host.until(
    { "...": true, type: "tool_execution_end", toolName: "task" },
    30_000,
  );
  await host.until({ "...": true, type: "prompt_result", status: "completed" });
  expect(stateOf(place)).toEqual(before);
  const { content, details } = end.result as {
    content: { text: string }[];
    details?: { results?: Record<string, unknown>[] };
  };
  return {
    host,
    isError: end.isError,
    text: content.map(({ text }) => text).join(""),
    result: details?.results?.[0],
  };
}

describe("a task that cannot be carried out as requested", () => {
  it.each([
    ["an unknown agent", { task: "<w>", agent: "nobody" }, /no agent "nobody".*explore/],
    [
      "an unknown profile",
      { task: "<w>", isolated: true, verify: "nightly" },
      /no verification profile "nightly"/,
    ],
    [
      "no default profile",
      { task: "<w>", isolated: true, verify: true },
      /task\.verification\.defaultProfile/,
    ],
    [
      "an invalid schema",
      { task: "<w>", outputSchema: { type: "thing" } },
      /outputSchema is not valid JSON Schema.*"thing"/,
    ],
    [
      "a schema that leads nowhere",
      { task: "<w>", outputSchema: { $ref: "#/$defs/none" } },
      /outputSchema is not valid JSON Schema/,
    ],
    ["no model", { task: "<w>", model: "no/such-model" }, /no\/such-model/],
  ])("with %s causes an error that names it, and the run continues", async (_, args, words) => {
    const { isError, text } = await callTask(args, { settings: verified });
    expect(text).toMatch(words);
    expect(isError).toBe(true);
  });

  it("does not run the checks of an untrusted project", async () => {
    const profile = { commands: [{ name: "evil", command: "touch ../owned" }] };
    const project = { "task.verification.profiles": { ci: profile } };
    const { isError, text } = await callTask(
      { task: "<w>", isolated: true, verify: "ci" },
      {
        settings: verified,
        prepare: ({ cwd }) => {
          mkdirSync(join(cwd, ".pi"), { recursive: true });
          writeFileSync(join(cwd, ".pi", "settings.json"), JSON.stringify(project));
        },
      },
    );
    expect(isError).toBe(true);
    expect(text).toMatch(/no verification profile "ci".*once it is trusted/);
  });

  it("fails its verification if a command does not exist, and keeps the patch", async () => {
    const verify = { commands: [{ name: "lint", command: "no-such-linter --all" }] };
    const args = { task: "<w>", isolated: true, verify };
    const { isError, text, result } = await callTask(args, { settings: verified });
    expect(isError).toBe(true);
    expect(text).toMatch(/lint: exit code 127\n.*no-such-linter.*not found/);
    expect(result).toMatchObject({ exitCode: 1, patch: { status: "kept", filesChanged: 1 } });
    const path = String(Reflect.get(Object(result?.patch), "path"));
    expect(readFileSync(path, "utf8")).toContain("+the task's");
  });

  it.each([
    [
      "a file stands where worktrees go",
      ({ folder }: Place) => writeFileSync(join(folder, "agent", "worktrees"), ""),
      /worktrees/,
    ],
    [
      "git fails at it",
      // Git keeps registered worktrees in a folder of this name.
      ({ cwd }: Place) => writeFileSync(join(cwd, ".git", "worktrees"), ""),
      /git worktree failed/,
    ],
  ])("fails with an error if no worktree can be created: %s", async (_, prepare, words) => {
    const args = { task: "<w>", isolated: true };
    const { isError, text } = await callTask(args, { prepare });
    expect(isError).toBe(true);
    expect(text).toMatch(words);
  });

  it("returns a patch if it does not apply, and changes nothing", async () => {
    const tasks = ["w1", "w2"].map((id) => ({ id, task: `<${id}>` }));
    const place = repositoryPlace([
      ...worker("<w1>", call("write", { path: "notes.txt", content: "first\n" })),
      ...worker("<w2>", call("write", { path: "notes.txt", content: "second\n" })),
      ...worker("start", call("task", { tasks, isolated: true })),
    ]);
    const host = await startMemoryHost({}, place);
    host.send({ type: "prompt", message: "start" });
    const { result } = await host.until({ "...": true, type: "tool_execution_end" });
    const [first, second] = Reflect.get(Object(result), "details").results;
    expect(first.patch).toMatchObject({ status: "applied" });
    expect(second.patch).toMatchObject({
      status: "conflict",
      reason: expect.stringContaining("notes.txt"),
    });
    expect(second).toMatchObject({ exitCode: 1, error: expect.stringContaining("notes.txt") });
    expect(readFileSync(second.patch.path, "utf8")).toContain("+second");
    expect(readFileSync(join(place.cwd, "notes.txt"), "utf8")).toBe("first\n");
    await host.until({ "...": true, type: "prompt_result", status: "completed" });
  });
});

describe("a budget of zero or less", () => {
  it("with a negative size is refused by name, both over the protocol and in the settings", async () => {
    const place = repositoryPlace([{ content: "hi" }], {});
    const host = await startMemoryHost({}, place);
    host.send({ type: "set_budget", maxCostUsd: -1, id: "b" });
    expect(await host.until({ "...": true, id: "b", success: false })).toMatchObject({
      error: expect.stringContaining("maxCostUsd"),
    });
    host.send({ type: "get_budget", id: "g" });
    expect(await host.until({ "...": true, id: "g" })).toMatchObject({ data: { limits: {} } });
    host.send({ type: "prompt", message: "hello" });
    await host.until({ "...": true, type: "prompt_result", status: "completed" });
    const other = repositoryPlace([{ content: "hi" }], { "task.budget.maxToolCalls": -3 });
    const refused = startHost({}, { place: other });
    expect(await refused.ended).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain("task.budget.maxToolCalls");
  });

  it("refuses a subagent and lets the calling run end", async () => {
    const { isError, text, result, host } = await callTask(
      { task: "<w>" },
      { settings: { "task.budget.maxSubagents": 0 } },
    );
    expect(isError).toBe(true);
    expect(text).toMatch(/subagents reached 0 of 0 \(task\.budget\.maxSubagents\)/);
    expect(result).toMatchObject({ status: "budget_exceeded", exitCode: 1 });
    host.send({ type: "prompt", message: "more", id: "p" });
    expect(await host.until({ "...": true, id: "p", success: false })).toMatchObject({
      error: expect.stringContaining("task.budget.maxSubagents"),
    });
  });

  it("refuses a prompt if this or an earlier host has already spent it", async () => {
    const place = repositoryPlace([{ content: "hi" }, { content: "hi again" }]);
    const first = await startMemoryHost({}, place);
    first.send({ type: "prompt", message: "hello" });
    await first.until({ "...": true, type: "prompt_result", status: "completed" });
    await first.finish();
    const continued = { ...place, arguments: [...place.arguments, "--continue"] };
    const next = await startMemoryHost({}, continued);
    next.send({ type: "set_budget", maxTotalTokens: 1 });
    next.send({ type: "prompt", message: "more", id: "p" });
    expect(await next.until({ "...": true, id: "p", success: false })).toMatchObject({
      error: expect.stringContaining("task.budget.maxTotalTokens"),
    });
    next.send({ type: "set_budget", clear: ["maxTotalTokens"] });
    next.send({ type: "prompt", message: "more" });
    await next.until({ "...": true, type: "prompt_result", status: "completed" });
  });
});
