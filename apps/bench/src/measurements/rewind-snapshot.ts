import { type BenchOptions, comparedRow, type Measurement, type Row } from "../measurement.ts";
import { ModelServer } from "../model-server.ts";
import { git, makeRepository } from "../repository.ts";
import { runPrompt, timed } from "../runs.ts";
import { Workspace } from "../workspace.ts";

/** A snapshot of a large folder for `rewind`, compared with git's own scan of the same files. */
export const rewindSnapshot: Measurement = {
  name: "rewind-snapshot",
  async run({ isQuick, hostCommand }: BenchOptions): Promise<Row[]> {
    const files = isQuick ? 2_000 : 20_000;
    await using server = await ModelServer.start();
    using workspace = new Workspace(server.baseUrl);
    const { cwd } = workspace;
    await makeRepository(cwd, files, (index) => `${index}: a file\n`.repeat(20));
    const host = await workspace.startHost(hostCommand);
    await host.request("initialize", { rewind: true });
    const argumentDeltas = [JSON.stringify({ path: "new.txt", content: "new\n" })];
    server.replies = [{ tool: "write", argumentDeltas }];
    await runPrompt(host);
    const { checkpoints } = (await host.request("list_checkpoints")) as {
      checkpoints: { entryId: string }[];
    };
    const { entryId } = checkpoints[0] ?? {};
    const results = { host: [] as number[], floor: [] as number[] };
    for (let count = 0; count < (isQuick ? 5 : 20); count++) {
      // A dry run that takes a snapshot and lists the changes to revert: one file.
      results.host.push(await timed(() => host.request("rewind", { entryId, dryRun: true })));
      results.floor.push(await timed(() => git(cwd, "status", "--porcelain")));
    }
    await host.stop();
    const what = { what: `a snapshot of ${files} files, one changed`, unit: "ms" };
    return [comparedRow({ ...what, ratioOf: "snapshot / git status", target: 8 }, results)];
  },
};
