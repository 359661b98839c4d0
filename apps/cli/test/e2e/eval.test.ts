import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { bubblewrapIsMissing } from "../../../../packages/system/src/sandbox/__fixtures__/has-bubblewrap.ts";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import { slice } from "../../../../scripts/testing/slice.ts";
import { makePlace, type Place } from "../support/place.ts";
import { git } from "../support/repository-place.ts";
import { startHost } from "../support/start-host.ts";

const examples = fileURLToPath(new URL("../../../../docs/examples", import.meta.url));

function place(scenario: unknown, files: Readonly<Record<string, string>> = {}) {
  const made = makePlace({ scenario: scenario as [] });
  write(made.folder, files);
  return made;
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, "tasks", name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

function start(
  at: Place,
  words: readonly string[],
  behind: readonly string[] = [],
  tasks = join(at.folder, "tasks"),
) {
  const model = ["--provider", "scripted", "--model", join(at.folder, "scenario.json")];
  const line = ["eval", tasks, ...words, "--", ...model, ...behind];
  return startHost({}, { place: { ...at, arguments: line } });
}

async function evaluate(at: Place, ...words: string[]) {
  const host = start(at, [...words, "--json"]);
  const { code } = await host.ended;
  return {
    code,
    stderr: host.stderr,
    report: host.stdout === "" ? undefined : JSON.parse(host.stdout),
  };
}

const task = (prompt: string, check: string, more: object = {}) =>
  JSON.stringify({ prompt, check, ...more });
const onFirst = (word: string, content: unknown) => ({
  repeat: true,
  when: { lastUserIncludes: word, hasToolResults: false },
  content,
});
const bash = (command: string) => [{ type: "toolCall", name: "bash", arguments: { command } }];
const done = { repeat: true, content: "done" };

describe("the repository's own tasks", () => {
  it("are solved by a capable model, but not by one that does nothing", async () => {
    const names = slice(readdirSync(join(examples, "eval-tasks")), 4);
    const solutions = JSON.parse(readFileSync(join(examples, "eval-solutions.json"), "utf8"));
    for (const [scenario, share] of [
      [solutions, 1],
      [[done], 0],
    ] as const) {
      const at = place(scenario);
      for (const name of names) {
        cpSync(join(examples, "eval-tasks", name), join(at.folder, "tasks", name), {
          recursive: true,
        });
      }
      const { code, report } = await evaluate(at, "--jobs", "2");
      expect(report.tasks.map(({ name }: { name: string }) => name)).toEqual(names);
      const wrong = report.results.filter(
        ({ passed }: { passed: boolean }) => passed !== (share === 1),
      );
      expect(wrong).toEqual([]);
      expect(report.results.map(({ status }: { status: string }) => status)).not.toContain("error");
      expect(report.all).toMatchObject({ passAt1: share, runs: names.length });
      expect(code).toBe(0);
    }
  });
});

it("prints a table of runs that each had a fresh copy", async () => {
  const solve = bash("test ! -e done && echo $RANDOM > done && cat start > end");
  const at = place([onFirst("<a>", solve), onFirst("<b>", "no"), done], {
    "a/task.json": task(
      "<a>",
      'test -s done && test "$(cat end)" = 1 && test -f laid && ! test -f .git',
      {
        folder: "project",
        setup: "echo 1 > start",
      },
    ),
    "a/project/.git": "gitdir: /nowhere\n",
    "a/check/laid": "",
    "b.json": task("<b>", "echo because; exit 3", { budget: { maxTotalTokens: 0 } }),
  });
  const host = start(at, ["--runs", "2"]);
  expect((await host.ended).code).toBe(0);
  const rows = host.stdout.split("\n").map((row) => row.split(/ {2,}/));
  expect(rows[0]).toEqual(["task", "passed", "pass@1", "pass@2", "cost", "tokens", "time"]);
  expect(rows[2]?.slice(0, 4)).toEqual(["a", "2/2", "100.0 %", "100.0 %"]);
  expect(rows[3]?.slice(0, 4)).toEqual(["b", "0/2", "0.0 %", "0.0 %"]);
  expect(rows[5]?.slice(0, 4)).toEqual(["all", "2/4", "50.0 %", "50.0 %"]);
  expect(host.stderr).toMatch(/b 1\/2: not passed/);
});

it("continues after kill -9 and repeats no run that has a result", async () => {
  const tasks = { "a.json": task("<a>", "test -f done"), "b.json": task("<b>", "test -f done") };
  const at = place(
    [onFirst("<a>", bash("touch done")), onFirst("<b>", bash("sleep 600")), done],
    tasks,
  );
  const killed = start(at, []);
  const sessions = () => globSync(join(at.folder, "agent/evaluations/*/sessions/*/1/*.jsonl"));
  const isAsleep = () =>
    sessions().some((path) => readFileSync(path, "utf8").includes("sleep 600"));
  await expect.poll(isAsleep).toBe(true);
  killed.child.kill("SIGKILL");
  await killed.ended;
  const [journal = ""] = globSync(join(at.folder, "agent/evaluations/*/journal.jsonl"));
  const lines = readFileSync(journal, "utf8").trim().split("\n");
  const begun = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === "begun");
  // Truncated, as after a power failure during the write.
  writeFileSync(journal, `${lines.join("\n")}\n{"type":"done","result":{"task":"b`);
  writeFileSync(
    join(at.folder, "scenario.json"),
    JSON.stringify([
      onFirst("<a>", "a is not asked again"),
      onFirst("<b>", bash("touch done")),
      done,
    ]),
  );
  const { code, report, stderr } = await (async () => {
    const host = start(at, ["--json"]);
    const { code: exitCode } = await host.ended;
    return { code: exitCode, report: JSON.parse(host.stdout), stderr: host.stderr };
  })();
  expect(code).toBe(0);
  expect(report.all).toMatchObject({ passed: 2, runs: 2 });
  expect(stderr).not.toContain("a: ");
  for (const { root } of begun) expect(existsSync(root)).toBe(false);
  // The next command starts a new evaluation.
  expect((await evaluate(at)).report.all).toMatchObject({ passed: 1, runs: 2 });
});

it("stops when its first three runs fail with the same error", async () => {
  const names = ["a", "b", "c", "d", "e"];
  const at = place(
    [done],
    Object.fromEntries(names.map((name) => [`${name}.json`, task("p", "true")])),
  );
  const host = start(at, ["--json"], ["--tools", "+nothing-of-this-name"]);
  const { code } = await host.ended;
  const report = JSON.parse(host.stdout);
  expect(report.results).toHaveLength(3);
  expect(report.stopped).toContain("nothing-of-this-name");
  expect(host.stderr).toContain("the first three runs failed in the same words");
  expect(code).toBe(1);
});

it("prefers host options after --, and refuses those that an evaluation sets itself", async () => {
  const at = place([done], { "a.json": task("p", "true") });
  const host = start(at, ["--model", "scripted/gone.json"]);
  expect((await host.ended).code).toBe(0);
  const refused = start(at, [], ["--session-dir", "/tmp"]);
  await refused.ended;
  expect(refused.stderr).toContain("sessionDir is not for the hosts of an evaluation");
});

describeWith(bubblewrapIsMissing)("an agent that looks for the check", () => {
  it("finds it nowhere: neither by its path nor in /proc, in variables or in git", async () => {
    const secret = "THE-HIDDEN-CHECK";
    // Not in the system's temporary folder, which the sandbox replaces with its own.
    const folder = mkdtempSync("/var/tmp/tau-eval-test-");
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const at = place([]);
    write(folder, {
      "a/task.json": task("<a>", `: ${secret}; test -f laid`, { folder: "project" }),
      "a/project/.git/objects": secret,
      "a/project/readme": "",
      "a/check/laid": secret,
    });
    git(folder, "init", "-q");
    git(folder, "add", "tasks/a/task.json");
    git(folder, "commit", "-qm", secret);
    const look = [
      `cat ${folder}/tasks/a/task.json ${folder}/tasks/a/check/*`,
      `git -C ${folder} log -p`,
      `grep -ra ${secret.slice(0, 8)} ${folder} . .git`,
      "cat /proc/*/cmdline /proc/*/environ; ls -l /proc/*/cwd",
      "env; ls -la",
    ].join("; ");
    writeFileSync(
      join(at.folder, "scenario.json"),
      JSON.stringify([
        onFirst("<a>", [
          ...bash(`{ ${look}; } 2>&1`),
          { type: "toolCall", name: "read", arguments: { path: `${folder}/tasks/a/task.json` } },
          { type: "toolCall", name: "grep", arguments: { pattern: "HIDDEN", path: folder } },
        ]),
        done,
      ]),
    );
    const host = start(at, ["--jobs", "2", "--runs", "2", "--json"], [], join(folder, "tasks"));
    await host.ended;
    const report = JSON.parse(host.stdout);
    expect(report).toMatchObject({ sandbox: true, all: { passed: 2 } });
    for (const { session } of report.results) {
      const said = readFileSync(session, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      const results = said.filter(({ message }) => message?.role === "toolResult");
      expect(results).toHaveLength(3);
      // The agent's own search text does not count.
      expect(JSON.stringify(results).replaceAll("THE-HIDD ", "")).not.toContain(secret);
    }
  });
});

describe("a policy", () => {
  const policy = {
    tools: { deny: ["write"] },
    permissions: { mode: "readOnly" },
    sandbox: { network: "off" },
  };
  const writing = [{ type: "toolCall", name: "write", arguments: { path: "made", content: "x" } }];

  it.each([
    ["as an option", ["--policy", "company.json"], []],
    ["as JSON", ["--policy", JSON.stringify(policy)], []],
    ["of the hosts", [], ["--policy", "company.json"]],
    ["of the hosts, after an equals sign", [], ["--policy=company.json"]],
  ])("applies to each run, %s, whatever files a task has", async (_way, words, behind) => {
    const files = {
      "a.json": task("go", "test -e made", { folder: "data" }),
      "data/company.json": "{}",
    };
    const at = place([onFirst("go", writing), done], files);
    const result = async (given: readonly string[], more: readonly string[]) => {
      const host = start(at, [...given, "--json"], more);
      await host.ended;
      const [{ passed, status }] = JSON.parse(host.stdout).results;
      return { passed, status };
    };
    expect(await result([], [])).toEqual({ passed: true, status: "completed" });
    writeFileSync(join(at.cwd, "company.json"), JSON.stringify(policy));
    expect(await result(words, behind)).toEqual({ passed: false, status: "completed" });
  });
});
