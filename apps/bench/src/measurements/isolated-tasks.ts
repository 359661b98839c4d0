import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { copyFile, readdir, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Child } from "../child.ts";
import { type BenchOptions, comparedRow, type Measurement, type Row } from "../measurement.ts";
import { ModelServer } from "../model-server.ts";
import { git, makeRepository } from "../repository.ts";
import { settled, timed } from "../runs.ts";
import { Workspace } from "../workspace.ts";

const run = promisify(execFile);
const MIB = 1024 * 1024;
const LINES = 110;

interface Size {
  readonly trees: number;
  readonly files: number;
}

/** Many isolated tasks at once on a large repository, compared with git creating and removing the same worktrees. */
export const isolatedTasks: Measurement = {
  name: "isolated-tasks",
  async run({ isQuick, hostCommand }: BenchOptions): Promise<Row[]> {
    const size = isQuick ? { trees: 5, files: 2_000 } : { trees: 20, files: 20_000 };
    await using server = await ModelServer.start();
    using workspace = new Workspace(server.baseUrl);
    await writeFile(
      join(workspace.agentDirectory, "settings.json"),
      JSON.stringify({ "task.maxConcurrency": size.trees }),
    );
    const line = (index: number) => `${index}: a line as long as lines are\n`;
    await makeRepository(workspace.cwd, size.files, (index) => line(index).repeat(LINES));
    const host = await workspace.startHost(hostCommand, { stream: "delta" });
    // A host's first call loads what the tool needs.
    await call({ server, workspace, host }, { trees: 1, files: size.files }, false);
    const plain = await call({ server, workspace, host }, size, false);
    const floor = await measureFloor(workspace, size);
    const isolated = await call({ server, workspace, host }, size, true);
    const left = await leftBehind(workspace);
    await host.stop();
    const what = `${size.trees} trees of ${size.files} files at once`;
    return [
      row(`${what}: made, and their hosts up`, [isolated.readyMs, plain.readyMs + floor.addMs], {
        ratioOf: "isolated / not isolated + git worktree add",
        target: 2,
      }),
      row(`${what}: compared and removed`, [isolated.endMs, plain.endMs + floor.removeMs], {
        ratioOf: "isolated / not isolated + git status + git worktree remove",
        target: 2,
      }),
      row("disk per tree", [isolated.diskMib / size.trees, floor.diskMib], {
        unit: "MiB",
        ratioOf: `a tree / git's own${floor.canShare ? ", blocks shared" : ""}`,
        target: floor.canShare ? 0.5 : 1.1,
      }),
      row("left behind", [left, 0], { unit: "files", ratioOf: "files", ratio: left, target: 0 }),
    ];
  },
};

function row(
  what: string,
  [host, floor]: readonly [number, number],
  more: { ratioOf: string; target: number; unit?: string; ratio?: number },
): Row {
  return {
    ...comparedRow({ what, unit: "ms", ...more }, { host: [host], floor: [floor] }),
    ...more,
  };
}

/**
 * Makes one `task` call; returns the time until all subagents have sent a request, and from their replies to the end.
 */
async function call(
  { server, workspace, host }: { server: ModelServer; workspace: Workspace; host: Child },
  { trees }: Size,
  isolated: boolean,
): Promise<{ readyMs: number; endMs: number; diskMib: number }> {
  const tasks = Array.from({ length: trees }, (_, index) => ({
    id: `t${index}`,
    task: "Nothing.",
  }));
  server.replies = [{ tool: "task", argumentDeltas: [JSON.stringify({ tasks, isolated })] }];
  const before = server.exchanges.length;
  const open = server.holdBack();
  const used = await usedBytes(workspace.cwd);
  const startedAt = performance.now();
  const end = settled(host);
  await host.request("prompt", { message: "go" });
  while (server.exchanges.length < before + 1 + trees) await sleep(5);
  const readyAt = performance.now();
  const diskMib = ((await usedBytes(workspace.cwd)) - used) / MIB;
  const releasedAt = performance.now();
  open();
  await end;
  return { readyMs: readyAt - startedAt, endMs: performance.now() - releasedAt, diskMib };
}

/** The same with plain git: creates and removes as many worktrees at once, and one more to measure its size. */
async function measureFloor(
  { cwd, agentDirectory }: Workspace,
  { trees }: Size,
): Promise<{ addMs: number; removeMs: number; diskMib: number; canShare: boolean }> {
  const paths = Array.from({ length: trees }, (_, index) => join(agentDirectory, `floor-${index}`));
  const used = await usedBytes(cwd);
  const addMs = await timed(async () => {
    for (const path of paths) await git(cwd, "worktree", "add", "--detach", "--no-checkout", path);
    await Promise.all(paths.map((path) => git(path, "reset", "--quiet", "--hard")));
  });
  const diskMib = ((await usedBytes(cwd)) - used) / MIB / trees;
  const removeMs = await timed(async () => {
    await Promise.all(paths.map((path) => git(path, "status", "--porcelain")));
    await Promise.all(paths.map((path) => git(cwd, "worktree", "remove", "--force", path)));
  });
  return { addMs, removeMs, diskMib, canShare: await canShareBlocks(cwd, agentDirectory) };
}

async function canShareBlocks(cwd: string, agentDirectory: string): Promise<boolean> {
  const target = join(agentDirectory, "probe");
  const source = join(cwd, "folder-0", "file-0.txt");
  return copyFile(source, target, constants.COPYFILE_FICLONE_FORCE).then(
    () => rm(target).then(() => true),
    () => false,
  );
}

/** The used space of the whole file system after a sync, because only this accounts for shared blocks. */
async function usedBytes(path: string): Promise<number> {
  await run("sync");
  const { blocks, bfree, bsize } = await statfs(path);
  return (blocks - bfree) * bsize;
}

async function leftBehind({ cwd, agentDirectory }: Workspace): Promise<number> {
  const folders = await readdir(join(agentDirectory, "worktrees"));
  const registered = await readdir(join(cwd, ".git", "worktrees")).catch(() => []);
  const { stdout } = await git(cwd, "status", "--porcelain");
  return folders.length + registered.length + stdout.split("\n").length - 1;
}
