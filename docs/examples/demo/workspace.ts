import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTwoFilesPatch } from "diff";
import { parseTestRun, type TestRun } from "./conversation.ts";

/** The demo's own project. */
export const shippedProject = fileURLToPath(new URL("./project", import.meta.url));

/** A fresh copy of the project with the folders next to it; it is not deleted afterwards. */
export interface Workspace {
  readonly folder: string;
  /** Where the project was copied from. */
  readonly original: string;
  readonly project: string;
  readonly sessions: string;
  /** For the demo's own models.json. */
  readonly agent: string;
}

/** Copies a project to a temporary folder, under version control if git is installed. */
export function createWorkspace(original: string): Workspace {
  const folder = mkdtempSync(join(tmpdir(), "tau-demo-"));
  const project = join(folder, "project");
  const agent = join(folder, "agent");
  cpSync(original, project, { recursive: true });
  mkdirSync(agent);
  git(project, "init", "--quiet");
  git(project, "add", "--all");
  git(project, "commit", "--quiet", "--message", "The project as it is");
  allowVerification(project);
  return { folder, original, project, sessions: join(folder, "sessions"), agent };
}

/**
 * Allows verification in the project settings, hidden from git so that it does not show as a
 * change.
 */
function allowVerification(project: string): void {
  const settings = join(project, ".pi", "settings.json");
  if (existsSync(settings)) return;
  mkdirSync(dirname(settings), { recursive: true });
  writeFileSync(settings, '{ "task.verification.enabled": true }\n');
  const exclude = join(project, ".git", "info", "exclude");
  if (existsSync(exclude)) appendFileSync(exclude, ".pi/\n");
}

/** Runs the project's tests. */
export function runTests(project: string): { run: TestRun | undefined; output: string } {
  const done = spawnSync(process.execPath, ["--test", "--test-reporter=spec"], {
    cwd: project,
    encoding: "utf8",
    // A test runner around this one would receive the report instead.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, FORCE_COLOR: undefined },
  });
  return { run: parseTestRun(done.stdout), output: done.stdout + done.stderr };
}

/** What has changed in the project since it was copied. */
export function changes({ project, original }: Workspace): string {
  git(project, "add", "--all", "--intent-to-add");
  const patch = git(project, "--no-pager", "diff", "--no-color", "--no-ext-diff");
  return patch.status === 0 ? patch.stdout : compareFolders(original, project);
}

function git(cwd: string, ...words: string[]): SpawnSyncReturns<string> {
  // Without the user's git configuration, and not in the repository of a surrounding hook.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  const identity = ["-c", "user.name=Tau demo", "-c", "user.email=demo@example.invalid"];
  return spawnSync("git", [...identity, "-c", "commit.gpgsign=false", ...words], {
    cwd,
    encoding: "utf8",
    env: Object.fromEntries([...own, ["GIT_CONFIG_GLOBAL", ""], ["GIT_CONFIG_NOSYSTEM", "1"]]),
  });
}

function compareFolders(original: string, project: string): string {
  const names = new Set([...listFiles(original), ...listFiles(project)]);
  const patches = [...names].sort().map((name) => {
    const [before, after] = [original, project].map((folder) => readOrEmpty(join(folder, name)));
    if (before === after) return "";
    return createTwoFilesPatch(`a/${name}`, `b/${name}`, before ?? "", after ?? "");
  });
  return patches.join("");
}

function listFiles(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length)
        .replace(/^[\\/]/, ""),
    )
    .filter((name) => !/^\.(git|pi)[\\/]/.test(name));
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
