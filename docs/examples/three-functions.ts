/** The repository that parallel-tasks.ts works on: tests for functions that do not exist yet. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const test = (name: string, functionName: string, cases: readonly [string, string][]): string => `
import assert from "node:assert/strict";
import test from "node:test";
import { ${functionName} } from "../src/${name}.js";

${cases.map(([call, result]) => `test('${call}', () => assert.equal(${call}, ${result}));`).join("\n")}
`;

const settings = {
  "task.verification.enabled": true,
  "task.verification.profiles": {
    changed: {
      // Runs in the worktree of one task, where only its own file has changed.
      commands: [{ name: "tests of what changed", command: "node test-changed.js" }],
      onFailure: "retry_once",
    },
  },
};

const files: Readonly<Record<string, string>> = {
  "package.json": `{ "name": "three-functions", "type": "module" }\n`,
  "src/index.js": `// One function per file.\n`,
  "test/slug.test.js": test("slug", "slugify", [
    ['slugify("Crème brûlée!")', '"creme-brulee"'],
    ['slugify("  a  b ")', '"a-b"'],
  ]),
  "test/roman.test.js": test("roman", "toRoman", [
    ["toRoman(2026)", '"MMXXVI"'],
    ["toRoman(4)", '"IV"'],
  ]),
  "test/wrap.test.js": test("wrap", "wrap", [['wrap("to be or not", 5)', '"to be\\nor\\nnot"']]),
  "test-changed.js": `
import { spawnSync } from "node:child_process";
const git = spawnSync("git", ["status", "--porcelain", "src"], { encoding: "utf8" });
const names = [...git.stdout.matchAll(/src\\/(\\w+)\\.js/g)].map(([, name]) => name);
const tests = names.map((name) => \`test/\${name}.test.js\`);
const { NODE_TEST_CONTEXT, ...env } = process.env;
process.exitCode = spawnSync("node", ["--test", ...tests], { stdio: "inherit", env }).status;
`,
  ".pi/settings.json": `${JSON.stringify(settings, null, 2)}\n`,
};

/** Makes the repository in a temporary folder, which is kept. */
export function makeRepository(): string {
  const folder = mkdtempSync(join(tmpdir(), "tau-three-functions-"));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  git(folder, "init", "--quiet");
  git(folder, "add", "--all");
  git(folder, "commit", "--quiet", "--message", "Tests first");
  return folder;
}

/** What was merged into the working tree. */
export function changesIn(folder: string): string {
  git(folder, "add", "--all", "--intent-to-add");
  return git(folder, "diff", "--stat").trimEnd();
}

/** Whether all tests of the repository pass. */
export function testsPass(folder: string): boolean {
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  return spawnSync(process.execPath, ["--test"], { cwd: folder, env }).status === 0;
}

function git(cwd: string, ...words: string[]): string {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  const identity = ["-c", "user.name=Tau", "-c", "user.email=tau@example.invalid"];
  const done = spawnSync("git", [...identity, "-c", "commit.gpgsign=false", ...words], {
    cwd,
    encoding: "utf8",
    env: Object.fromEntries(own),
  });
  return done.stdout;
}
