import { createLocalWorkspace, FileQueue, ProcessRegistry, type ToolEnvironment } from "@tau-agent/system";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { RewindEngine, type RewindEngineOptions } from "../rewind-engine.ts";

/** A folder with a project, and a place for rewind's data. */
export interface TestFolder {
  readonly root: string;
  readonly folder: string;
  readonly directory: string;
  readonly environment: ToolEnvironment;
  git(...args: string[]): string;
  write(path: string, content: string | Uint8Array, mode?: number): void;
  engine(overrides?: Partial<RewindEngineOptions>): Promise<RewindEngine>;
}

/** The content of the folder: a repository in different states, or no repository. */
export type FolderKind = "plain" | "git" | "busy-git";

export function createFolder(kind: FolderKind): TestFolder {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tau-rewind-")));
  const folder = join(root, "project");
  const directory = join(root, "agent", "rewind");
  const processes = new ProcessRegistry();
  onTestFinished(() => {
    processes.killAll();
    rmSync(root, { recursive: true, force: true });
  });
  mkdirSync(folder);
  const variables = { PATH: process.env.PATH ?? "", HOME: root, GIT_CONFIG_NOSYSTEM: "1" };
  const environment: ToolEnvironment = {
    cwd: folder,
    environment: variables,
    homeDirectory: root,
    temporaryDirectory: root,
    workspace: createLocalWorkspace({ cwd: folder }),
    fileQueue: new FileQueue(),
    processes,
  };
  const gitIn = (cwd: string, ...args: string[]) =>
    execFileSync("git", ["-c", "protocol.file.allow=always", ...args], {
      cwd,
      env: { ...variables, GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", ...committer },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  const test: TestFolder = {
    ...{ root, folder, directory, environment },
    git: (...args) => gitIn(folder, ...args),
    write: (path, content, mode) => writeFile(join(folder, path), content, mode),
    engine: (overrides = {}) =>
      RewindEngine.open({
        ...{ environment, folder, directory, ownFolders: [], sessionId: "s1", keep: 100 },
        limits: { maxFileBytes: 1e8, maxTotalBytes: 1e9 },
        ...overrides,
      }),
  };
  if (kind !== "plain") makeRepository(test, gitIn, kind);
  return test;
}

const committer = { GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };

function makeRepository(
  { root, folder, git, write }: TestFolder,
  gitIn: (cwd: string, ...args: string[]) => string,
  kind: FolderKind,
): void {
  git("init", "--quiet", "-b", "main");
  write(".gitignore", "ignored/\n*.log\n");
  if (kind === "busy-git") {
    const other = join(root, "other");
    mkdirSync(other);
    gitIn(other, "init", "--quiet");
    writeFileSync(join(other, "inside.txt"), "inside\n");
    gitIn(other, "add", ".");
    gitIn(other, "commit", "--quiet", "-m", "other");
    git("submodule", "--quiet", "add", other, "module");
    // Rules and filters that would change the bytes of files when git stores them.
    write(".gitattributes", "*.txt text eol=crlf\n*.bin filter=loud\n");
    git("config", "core.autocrlf", "true");
    git("config", "filter.loud.clean", `touch ${root}/filtered; tr a-z A-Z`);
    git("config", "core.fsmonitor", `touch ${root}/monitored; false`);
    for (const hook of ["reference-transaction", "post-index-change", "pre-commit"]) {
      writeFile(join(folder, ".git/hooks", hook), `#!/bin/sh\ntouch ${root}/hooked\n`, 0o755);
    }
  }
  write("README.md", "read me\n");
  git("add", ".gitignore", "README.md");
  git("commit", "--quiet", "--no-verify", "-m", "first");
}

function writeFile(path: string, content: string | Uint8Array, mode?: number): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  if (mode !== undefined) chmodSync(path, mode);
}

/** A copy of a folder's state: the file at each path, as strings of one character per byte. */
export function copyOf(folder: string, path = ""): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of readdirSync(placeIn(folder, path), { encoding: "latin1" })) {
    if (name === ".git") continue;
    const inner = path === "" ? name : `${path}/${name}`;
    const place = placeIn(folder, inner);
    const stats = lstatSync(place);
    const mode = (stats.mode & 0o777).toString(8);
    if (stats.isSymbolicLink()) found.set(inner, `link ${readlinkSync(place)}`);
    else if (stats.isDirectory()) {
      const below = copyOf(folder, inner);
      if (below.size === 0) found.set(`${inner}/`, "folder");
      for (const [key, value] of below) found.set(key, value);
    } else found.set(inner, `file ${mode} ${readFileSync(place, "latin1")}`);
  }
  return found;
}

function placeIn(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);
}

export function clear(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

export function link(path: string, target: string): void {
  mkdirSync(dirname(path), { recursive: true });
  clear(path);
  symlinkSync(target, path);
}
