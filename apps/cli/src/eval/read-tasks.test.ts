import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { hiddenPlaces } from "./hidden-places.ts";
import { readTasks } from "./read-tasks.ts";
import { passAt } from "./score.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tau-tasks-test-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

it("reads tasks in TOML and JSON, both as single files and in folders", async () => {
  write({
    "a.toml": 'prompt = "do"\ncheck = """\ntest -f x\n"""\n[budget]\nmaxCostUsd = 0.5\n',
    "b.json": '{"prompt": "p", "check": "c", "workspace": {"shell": ["sh"], "cwd": "/"}}',
    "c/task.toml": 'prompt = "p"\ncheck = "c"\nfolder = "project"\nsetup = "make"\n',
    "c/project/x": "",
    "c/check/hidden": "",
    "d/notes.md": "no task",
    "README.md": "no task",
  });
  expect(await readTasks(folder)).toMatchObject([
    { name: "a", prompt: "do", check: "test -f x\n", budget: { maxCostUsd: 0.5 } },
    { name: "b", workspace: '{"shell":["sh"],"cwd":"/"}' },
    {
      name: "c",
      setup: "make",
      folder: join(folder, "c/project"),
      checkFolder: join(folder, "c/check"),
    },
  ]);
});

it.each([
  ["prompt = 1\ncheck = 'c'", "prompt: expected a text"],
  ["prompt = 'p'", "check: it is missing"],
  ["prompt = 'p'\ncheck = 'c'\nchekc = 'x'", "there is no member chekc; there are prompt"],
  ["prompt = 'p'\ncheck = 'c'\nfolder = 'gone'", "folder: gone is not a folder"],
  ["prompt = 'p'\ncheck = 'c'\nfolder = '.'", "it contains the task itself"],
  ["prompt = 'p'\ncheck = 'c'\nbudget = { maxCost = 1 }", "there is no limit maxCost"],
  [
    "prompt = 'p'\ncheck = 'c'\nbudget = { maxCostUsd = -1 }",
    "budget.maxCostUsd: expected a number",
  ],
  ["prompt = ", "Invalid TOML"],
])("rejects %j with an error that names the file and the member", async (text, reason) => {
  write({ "a.toml": text });
  await expect(readTasks(folder)).rejects.toThrow(reason);
  await expect(readTasks(folder)).rejects.toThrow("a.toml");
});

it("rejects a folder without tasks and two tasks with one name", async () => {
  await expect(readTasks(folder)).rejects.toThrow("it has no task");
  const text = '{"prompt": "p", "check": "c"}';
  write({ "a.json": text, "a/task.json": text });
  await expect(readTasks(folder)).rejects.toThrow("two tasks with the name a");
});

it("hides the repositories around the tasks, including that of a work tree", async () => {
  write({
    "tree/.git": "gitdir: ../main/.git/worktrees/t\n",
    "main/.git/worktrees/t/commondir": "../..\n",
  });
  const tasks = join(folder, "tree/tasks");
  const places = await hiddenPlaces(tasks);
  expect(places.slice(0, 2)).toEqual([tasks, join(folder, "main/.git")]);
});

it.each([
  [1, 4, 0, 0],
  [1, 4, 1, 0.25],
  [2, 4, 1, 0.5],
  [4, 4, 1, 1],
  [2, 4, 3, 1],
  [3, 2, 1, 1],
])("computes pass@%i for %i runs with %i passed as %f", (k, runs, passed, share) => {
  expect(passAt(k, runs, passed)).toBeCloseTo(share);
});
