import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type BenchOptions, type Measurement, type Row, summarize } from "../measurement.ts";
import { ModelServer } from "../model-server.ts";
import { Workspace } from "../workspace.ts";

const run = promisify(execFile);
const FOLDERS = 200;

/** A snapshot of a large folder for `rewind`, compared with git's own look at the same files. */
export const rewindSnapshot: Measurement = {
  name: "rewind-snapshot",
  async run({ isQuick, hostCommand }: BenchOptions): Promise<Row[]> {
    const files = isQuick ? 2_000 : 20_000;
    await using server = await ModelServer.start();
    using workspace = new Workspace(server.baseUrl);
    const { cwd } = workspace;
    await makeRepository(cwd, files);
    const host = await workspace.startHost(hostCommand);
    await host.request("initialize", { rewind: true });
    const argumentDeltas = [JSON.stringify({ path: "new.txt", content: "new\n" })];
    server.replies = [{ tool: "write", argumentDeltas }];
    const settled = host.next((frame) => frame.type === "agent_settled");
    await host.request("prompt", { message: "go" });
    await settled;
    const { checkpoints } = (await host.request("list_checkpoints")) as {
      checkpoints: { entryId: string }[];
    };
    const { entryId } = checkpoints[0] ?? {};
    const [ours, gits]: [number[], number[]] = [[], []];
    for (let count = 0; count < (isQuick ? 5 : 20); count++) {
      // A snapshot of the folder, and what would be taken back: one file.
      ours.push(await time(() => host.request("rewind", { entryId, dryRun: true })));
      gits.push(await time(() => run("git", ["status", "--porcelain"], { cwd })));
    }
    await host.stop();
    const [hosts, floor] = [summarize(ours), summarize(gits)];
    return [
      {
        what: `a snapshot of ${files} files, one changed`,
        unit: "ms",
        ...{ host: hosts, floor },
        ratioOf: "snapshot / git status",
        ratio: hosts.min / floor.min,
        target: 8,
      },
    ];
  },
};

async function makeRepository(cwd: string, files: number): Promise<void> {
  for (let index = 0; index < files; index++) {
    const folder = join(cwd, `folder-${index % FOLDERS}`);
    if (index < FOLDERS) await mkdir(folder);
    await writeFile(join(folder, `file-${index}.txt`), `${index}: a file\n`.repeat(20));
  }
  const git = (...words: string[]) => run("git", words, { cwd, maxBuffer: 64 * 1024 * 1024 });
  await git("init", "--quiet");
  await git("add", "--all");
  const identity = ["-c", "user.name=Bench", "-c", "user.email=bench@localhost"];
  await git(...identity, "commit", "--quiet", "--message", "all");
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
