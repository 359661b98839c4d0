import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startLoopbackServer } from "@tau-agent/ai/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { describeWith } from "../../scripts/testing/describe-with.ts";
import { partOnly, slice } from "../../scripts/testing/slice.ts";
import fixTheTests from "./demo/scenario.ts";
import { projectOfPage } from "./project-of-page.ts";
import { type Finished, hasPython, runProgram } from "./run-program.ts";

const node = process.execPath;
const inExamples = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const inRepository = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

/** A folder with one file whose name the answer must contain. */
function folderWithOneFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "tau-example-"));
  writeFileSync(join(folder, "only-file.txt"), "");
  return folder;
}

describe("an import", () => {
  it.each(["ai", "coding-agent"])(
    "of %s loads no schema library and no vendor's SDK",
    async (name) => {
      const program = `
      const { registerHooks } = await import("node:module");
      registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) });
      await import("@tau-agent/${name}");`;
      const cwd = fileURLToPath(new URL(".", import.meta.url));
      const { stdout } = await runProgram([node, "--input-type=module", "-e", program], { cwd });
      const modules = stdout.trim().split("\n");
      expect(modules.length).toBeGreaterThan(5);
      const own = /^node:|\/packages\/(ai|agent|coding-agent|rpc-protocol|sessions)\/dist\//;
      expect(modules.filter((url) => !own.test(url))).toEqual([]);
    },
  );
});

describe("the three ways in", () => {
  const examples = {
    "library.ts": [node],
    "client.ts": [node],
    "subprocess-node.mjs": [node],
    "subprocess-python.py": ["python3"],
  } as const;
  const runnable = Object.entries(examples).filter(
    ([, [program]]) => program !== "python3" || hasPython,
  );

  it.each(runnable)("%s answers with what the tool found", async (name, [program]) => {
    const cwd = folderWithOneFile();
    const done = await runProgram([program, inExamples(name)], { cwd });
    expect(done.stderr).toBe("");
    expect(done.stdout).toContain("[ls]");
    expect(done.stdout).toContain("The first thing here is only-file.txt.");
    expect(done.exitCode).toBe(0);
    rmSync(cwd, { recursive: true });
  });

  it("answers with what is elsewhere, each way, in elsewhere.ts", async () => {
    const [here, there] = [folderWithOneFile(), folderWithOneFile()];
    const done = await runProgram([node, inExamples("elsewhere.ts"), there], { cwd: here });
    const text = "The first thing here is only-file.txt.";
    expect(done.stderr).toBe("");
    expect(done.stdout).toBe(`library: ${text}\nclient: ${text}\ncommand: ${text}\n`);
    for (const folder of [here, there]) rmSync(folder, { recursive: true });
  });

  it("answers with a custom tool in custom-tool.ts", async () => {
    const done = await runProgram([node, inExamples("custom-tool.ts")]);
    expect(done).toMatchObject({ exitCode: 0, stdout: "Ticket 7 is closed now.\n", stderr: "" });
  });

  it("passes its own tests in testing.ts, with the files of the page alone", async () => {
    const cwd = projectOfPage("testing.md");
    const done = await runProgram([node, "--test", "testing.ts"], { cwd });
    expect(done.stdout).toMatch(/^. pass 4$/m);
    expect(done).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it("answers in a project with the files of the quickstart alone", async () => {
    const cwd = projectOfPage("quickstart.md");
    const done = await runProgram([node, "client.ts"], { cwd });
    expect(done).toMatchObject({ exitCode: 0, stderr: "" });
    expect(done.stdout).toContain("The first thing here is");
  });

  it("decides about a command in approvals.ts, with the files of the quickstart alone", async () => {
    const cwd = projectOfPage("quickstart.md");
    const done = await runProgram([node, "approvals.ts"], { cwd });
    expect(done).toMatchObject({ exitCode: 0, stderr: "" });
    expect(done.stdout.split("\n")).toEqual([
      "Allow bash: ls && rm -rf build?",
      "  allow: ls",
      "  ask: rm -rf build",
      "I left everything as it is: nothing may be deleted.",
      "",
    ]);
  });

  it("runs a tool of its own in host-tools.ts", async () => {
    const done = await runProgram([node, inExamples("host-tools.ts")]);
    const stdout = "Ticket core-7 is open.\n";
    expect(done).toMatchObject({ exitCode: 0, stdout, stderr: "" });
  });

  it("lists, continues, forks, exports and deletes what it saved in saved-sessions.ts", async () => {
    const done = await runProgram([node, inExamples("saved-sessions.ts")]);
    expect(done).toMatchObject({ exitCode: 0, stderr: "" });
    expect(done.stdout.split("\n")).toEqual([
      'Naming: 2 messages, "Call it Tau"',
      "It is Tau.",
      "4 messages in the fork: Another branch.",
      "Exported one page",
      "1 session left",
      "",
    ]);
  });

  it("asks its own provider, with an extension's tool, in own-provider.ts", async () => {
    const home = mkdtempSync(join(tmpdir(), "tau-example-"));
    const done = await runProgram([node, inExamples("own-provider.ts")], { env: { HOME: home } });
    expect(done).toMatchObject({ exitCode: 0, stderr: "" });
    expect(done.stdout).toContain("model_not_found: Model not found: house/large");
    expect(done.stdout).toContain("text: 'Hello, Ada!'");
    expect(done.stdout).toContain("\nI have greeted Ada.\n");
    rmSync(home, { recursive: true });
  });

  it("prints an answer as data in structured-output.ts", async () => {
    const done = await runProgram([node, inExamples("structured-output.ts")]);
    const stdout = "main.ts: name it\nattempts: 2\n";
    expect(done).toMatchObject({ exitCode: 0, stdout, stderr: "" });
  });

  it("fails a CI job over an error in ci-review.ts", async () => {
    const done = await runProgram([node, inExamples("ci-review.ts")]);
    const stdout =
      "::error file=src/price.ts,line=12::The discount is added instead of subtracted.\n";
    expect(done).toMatchObject({ exitCode: 1, stdout, stderr: "" });
  });

  it("goes on with a thread after a restart in bot.ts", async () => {
    const home = mkdtempSync(join(tmpdir(), "tau-example-"));
    const counts: number[] = [];
    for (const _ of [1, 2]) {
      const env = { ...process.env, PORT: "0", BOT_FOLDER: home };
      const bot = spawn(node, [inExamples("bot.ts")], {
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      const [address] = (await once(bot.stdout, "data")) as [Buffer];
      const ask = (thread: string) =>
        fetch(String(address).trim(), {
          method: "POST",
          body: JSON.stringify({ thread, message: "What is here?" }),
        });
      const answers = await Promise.all(["a/1", "b"].map(async (of) => (await ask(of)).json()));
      for (const { answer } of answers) expect(answer).toContain("The first thing here is");
      counts.push(answers[0].messages);
      bot.kill("SIGTERM");
      await once(bot, "exit");
    }
    expect(counts[1]).toBe(2 * (counts[0] ?? 0));
    rmSync(home, { recursive: true });
  });

  it("answers each user in many-users.ts", async () => {
    const done = await runProgram([node, inExamples("many-users.ts")]);
    expect(done).toMatchObject({ exitCode: 0, stderr: "" });
    for (const user of ["ada", "grace"]) {
      expect(done.stdout).toMatch(new RegExp(`${user}: Hello`));
      expect(done.stdout).toContain(`${user}: completed`);
    }
  });

  it("shows three isolated tasks with their verdicts in parallel-tasks.ts", async () => {
    const home = mkdtempSync(join(tmpdir(), "tau-example-"));
    const env = { PI_CODING_AGENT_DIR: home };
    const done = await runProgram([node, inExamples("parallel-tasks.ts")], { env });
    expect(done).toMatchObject({ exitCode: 0, stderr: "" });
    expect(done.stdout).toContain("the replies come from a script; all else is real");
    for (const id of ["slug ", "roman", "wrap "]) {
      expect(done.stdout).toMatch(new RegExp(`s {2}${id} +starts as task, in a tree of its own`));
      expect(done.stdout).toMatch(
        new RegExp(`s {2}${id} +applied: src/${id.trim()}.js \\+\\d+ -0`),
      );
    }
    expect(done.stdout).toMatch(/roman +tests of what changed, attempt 1: FAILED/);
    expect(done.stdout).toMatch(/roman +ends; verification passed after 1 repair\n/);
    expect(done.stdout).toContain("3 files changed");
    expect(done.stdout).toMatch(/Tests: +all pass\nTokens: \d+, [1-9]\d+ of them by subagents/);
    const repository = /^Repository: (\S+)$/m.exec(done.stdout)?.[1] ?? "";
    expect(repository.startsWith(tmpdir())).toBe(true);
    rmSync(repository, { recursive: true });
    expect(readdirSync(join(home, "worktrees"))).toEqual([]);
    rmSync(home, { recursive: true });
  });

  it.each(Object.keys(examples))("%s has at most 25 lines", (name) => {
    const lines = readFileSync(inExamples(name), "utf8").trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(25);
  });

  it.each(Object.keys(examples))("%s is in the README, byte for byte", (name) => {
    const code = readFileSync(inExamples(name), "utf8").trimEnd();
    expect(readFileSync(inRepository("README.md"), "utf8")).toContain(`\n${code}\n\`\`\``);
  });

  it("finds every code block of the documentation in its file", async () => {
    const script = inRepository("scripts/sync-snippets.ts");
    const done = await runProgram([node, script, "--check"]);
    expect(done).toMatchObject({ exitCode: 0, stderr: "" });
  });
});

describe("the demo", () => {
  let finished: Finished;
  beforeAll(async () => {
    finished = await demo();
  });

  it("finds the cause in the failure's output, fixes it and shows what it did", () => {
    const { stdout, exitCode } = finished;
    expect(stdout).toContain("\n8 pass, 2 fail\n");
    const words = stdout.replaceAll(/\s+/g, " ");
    expect(words).toMatch(/replies come from a script .* over http:\/\/127\.0\.0\.1:\d+/);
    expect(words).toContain("fails at test/invoice.test.js:13: it got 14516");
    expect(stdout).toContain("  > edit src/calendar.js");
    expect(stdout).toContain("broken daysInMonth: daysInMonth(2026, 4) is 31, documented 30");
    expect(stdout).toMatch(
      /^Question: +Allow bash: rm -r test\?\nAnswer: +no, the tests are still needed\n/m,
    );
    expect(stdout).toMatch(/^Question: +Allow bash: ls\?\nAnswer: +yes\n/m);
    expect(stdout).toMatch(/^Page:\s+file:\/\/\S+session\.html$/m);
    expect(stdout).toMatch(/^Fork: +a new session with [1-9]\d* messages/m);
    expect(stdout).toContain(
      "src/calendar.js:\n-  return new Date(Date.UTC(year, month - 1, 0)).getUTCDate();\n" +
        "+  return new Date(Date.UTC(year, month, 0)).getUTCDate();\n10 pass, 0 fail\n",
    );
    expect(stdout).toMatch(
      /^Took: +\d+\.\d s, \d+ tool calls\nTokens: +[1-9]\d* in.*\nCost: +\$0/m,
    );
    expect(stdout).toContain("All tests pass.");
    expect(stdout).not.toContain("\u001b[");
    expect(exitCode).toBe(0);
  });

  it("shows what a compaction keeps and saves, and goes on with it", () => {
    const { stdout } = finished;
    const [, before = "", count] =
      /^Before: +([\d ]+) tokens in (\d+) messages$/m.exec(stdout) ?? [];
    expect(stdout).toMatch(
      /^Summary: +- .*\n(?: {11}.*\n)*? {11}- src\/calendar\.js breaks its own/m,
    );
    const [, kept, all] = /^Kept: +the last (\d+) messages .* all (\d+) stay/m.exec(stdout) ?? [];
    expect(all).toBe(count);
    expect(Number(kept)).toBeLessThan(Number(all));
    expect(stdout).toMatch(/the summary says it: src\/calendar\.js/);
    const [, after = "", share] =
      /^After: +([\d ]+) tokens, .* has (\d+) % fewer$/m.exec(stdout) ?? [];
    const [from, to] = [before, after].map((text) => Number(text.replaceAll(" ", "")));
    expect(Number(share)).toBeGreaterThan(20);
    expect(Number(share)).toBe(Math.round((100 * ((from ?? 0) - (to ?? 0))) / (from ?? 1)));
  });

  it("breaks lines between words only, and cuts none", () => {
    const lines = finished.stdout.split("\n");
    for (const line of lines.filter((text) => text.trim().includes(" ", 40))) {
      expect(line.length).toBeLessThanOrEqual(100);
    }
    expect(lines.filter((line) => /\w $|\S…$/.test(line))).toEqual([]);
    const words = finished.stdout.replaceAll(/\s+/g, " ");
    expect(words).toContain('documented {"year":2026,"month":4,"day":16}');
  });

  it("loses nothing when the host is killed, and has three subagents' work checked", () => {
    const { stdout } = finished;
    const [, pid] = /^Host: +tau \S+, process (\d+)$/m.exec(stdout) ?? [];
    expect(stdout).toMatch(new RegExp(`^Killed: +process ${pid}, while bash node --test`, "m"));
    expect(stdout).not.toMatch(new RegExp(`^Host: +process ${pid},`, "m"));
    const [, kept, announced] = /^Kept: +(\d+) messages; (\d+) had been/m.exec(stdout) ?? [];
    expect(Number(announced)).toBeGreaterThan(10);
    expect(Number(kept)).toBeGreaterThanOrEqual(Number(announced));
    for (const id of ["changes", "guide", "map"]) {
      expect(stdout).toMatch(new RegExp(`^  ${id} +attempt 1: tests passes$`, "m"));
      expect(stdout).toMatch(new RegExp(`^  ${id} +applied: [A-Z]+\\.md`, "m"));
    }
    expect(stdout).toMatch(/^ {2}changes +attempt 1: title fails$/m);
    expect(stdout).toMatch(/^ {2}changes +attempt 2: title passes$/m);
    expect(stdout).toMatch(/^ {2}changes +applied: CHANGES\.md, repaired once$/m);
    expect(stdout).toMatch(/^Subagents: 3, with [1-9]\d* tokens$/m);
    expect(stdout).toContain("\nFILES.md: new, 6 lines\n");
    keepNothingOf(stdout, (session) => {
      const lines = readFileSync(session, "utf8").trimEnd().split("\n");
      expect(JSON.parse(lines[0] ?? "")).toMatchObject({ type: "session", version: 3 });
      const interrupted = lines.filter((line) => line.includes('"interrupted":true'));
      expect(interrupted).toHaveLength(1);
    });
  });

  it("has a host whose tools are in another root, and keeps only the conversation here", () => {
    const words = finished.stdout.replaceAll(/\s+/g, " ");
    const [, folder = ""] = /Folder: (\S+) Prompt: Where are you\?/.exec(words) ?? [];
    expect(words).toContain(`I am in ${folder}, and my files are only there.`);
    expect(words).toContain(`Written: WHERE.md there, with "${folder}"`);
    const session = /Kept here: (\S+)/.exec(words)?.[1];
    // In a root of its own, no folder of this machine has the name.
    if (existsSync(folder)) expect(folder).toMatch(/\/other-root$/);
    else expect(words).toContain(`Here: there is no folder ${folder}`);
    expect(session).toMatch(/\/sessions\/.*\.jsonl$/);
  });

  it("stops with one sentence when a key is refused", async () => {
    const refuse = () => ({ fault: { kind: "status", status: 401 } }) as const;
    await using server = await startLoopbackServer({ scenario: refuse });
    const home = homeOf(server.urls["openai-responses"], "a-key-of-mine");
    const command = [node, inExamples("demo/demo.ts")] as const;
    const done = await runProgram(command, { env: { PI_CODING_AGENT_DIR: home } });
    expect(done.stderr.trim().split("\n")).toHaveLength(1);
    expect(done.stderr).toMatch(/Stopped: .*The key from models\.json was refused/);
    expect(done.stderr).toContain("npx -y pnpm@12 demo --scripted");
    expect(done.stdout).not.toContain("== Three subagents");
    expect(done.exitCode).toBe(1);
    expect(server.requestCount).toBe(1);
    rmSync(home, { recursive: true });
  });

  it.each(slice(["month, 1", "month + 1, 0"], 0))("finds another bug: %s", async (slip) => {
    const project = copyOfProject();
    replaceIn(join(project, "src/calendar.js"), "month - 1, 0", slip);
    const { stdout, exitCode } = await demo("--project", project);
    expect(stdout).toContain("\n+  return new Date(Date.UTC(year, month, 0)).getUTCDate();\n");
    expect(exitCode).toBe(0);
    keepNothingOf(stdout);
    rmSync(project, { recursive: true });
  });

  describeWith(partOnly)("tried at length", () => {
    it("uses the model that the user's own files name", async () => {
      await using server = await startLoopbackServer({ scenario: fixTheTests });
      const home = homeOf(server.urls["openai-responses"]);
      const command = [node, inExamples("demo/demo.ts")] as const;
      const done = await runProgram(command, { env: { PI_CODING_AGENT_DIR: home } });
      expect(done.stdout).toContain("The model is own/mine, as your keys and settings say");
      expect(done.stdout).toContain("All tests pass.");
      expect(server.requestCount).toBeGreaterThan(20);
      keepNothingOf(done.stdout);
      rmSync(home, { recursive: true });
    });

    it("says so and exits with 1 when it cannot find the cause", async () => {
      const project = copyOfProject();
      const calendar = join(project, "src/calendar.js");
      replaceIn(calendar, "new Date(Date.UTC(year, month - 1, 0)).getUTCDate()", "12");
      const { stdout, exitCode } = await demo("--project", project);
      expect(stdout).toContain("I could not find the cause: 2 changes of a single line");
      expect(stdout).not.toContain("src/calendar.js:\n-");
      expect(stdout).toContain("The tests still fail.");
      expect(exitCode).toBe(1);
      keepNothingOf(stdout);
      rmSync(project, { recursive: true });
    });
  });
});

function demo(...args: string[]): Promise<Finished> {
  return runProgram([node, inExamples("demo/demo.ts"), "--scripted", ...args]);
}

/** An agent directory with a model of the user's own. */
function homeOf(baseUrl: string, apiKey?: string): string {
  const home = mkdtempSync(join(tmpdir(), "tau-example-"));
  const own = { baseUrl, api: "openai-responses", ...(apiKey !== undefined && { apiKey }) };
  const providers = { own: { ...own, models: [{ id: "mine" }] } };
  const settings = { defaultProvider: "own", defaultModel: "mine" };
  writeFileSync(join(home, "models.json"), JSON.stringify({ providers }));
  writeFileSync(join(home, "settings.json"), JSON.stringify(settings));
  return home;
}

function copyOfProject(): string {
  const copy = mkdtempSync(join(tmpdir(), "tau-example-"));
  cpSync(inExamples("demo/project"), copy, { recursive: true });
  return copy;
}

function replaceIn(path: string, from: string, to: string): void {
  const text = readFileSync(path, "utf8");
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
}

/** The demo keeps its folder for the user; a test does not. */
function keepNothingOf(stdout: string, check: (session: string) => void = () => {}): void {
  const session = /^Session:\s+(\S+)$/m.exec(stdout)?.[1] ?? "";
  const folder = /is kept in (\S+)$/m.exec(stdout)?.[1] ?? "";
  expect(session.startsWith(folder)).toBe(true);
  check(session);
  if (folder.startsWith(tmpdir())) rmSync(folder, { recursive: true });
}
