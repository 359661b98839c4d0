import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { VerificationResult } from "@tau-agent/rpc-protocol";
import { truncateTail } from "@tau-agent/system";
import type { CapturedWork, IsolatedTree, PatchPart, TaskIsolation } from "@tau-agent/worktrees";
import type { TaskResult } from "./task-result.ts";
import type { TaskServices } from "./task-services.ts";

/** The folder of a task's files. */
interface KeptPlace {
  readonly services: Pick<TaskServices, "settings">;
  readonly isolation: TaskIsolation | undefined;
  readonly artifactsFolder: string;
  readonly fileName: string;
}

/** The kept record of isolated work, and its mergeable parts. */
export type KeptResult = Pick<TaskResult, "patch" | "leftOut" | "commits"> & {
  readonly parts?: readonly PatchPart[];
};

export async function keepAll(
  { isolation, artifactsFolder, fileName }: KeptPlace,
  {
    work,
    tree,
  }: {
    work:
      | { tree?: CapturedWork | undefined; verification?: VerificationResult | undefined }
      | undefined;
    tree: IsolatedTree | undefined;
  },
): Promise<KeptResult> {
  const captured = work?.tree;
  if (isolation === undefined || tree === undefined || captured === undefined) return {};
  const { verification } = work ?? {};
  if (verification?.status === "failed" && verification.onFailure === "discard_patch") {
    const nothing = { filesChanged: 0, insertions: 0, deletions: 0, files: [] };
    return { patch: { ...nothing, status: "discarded" } };
  }
  const name = join(artifactsFolder, fileName);
  const path = `${name}.patch`;
  const { statistics, parts, unmerged } = await isolation.keepWork(captured, path);
  const leftOut = await tree.keepFiles(captured, `${name}-files`);
  const commits = await tree.keepCommits(`${name}.bundle`);
  return {
    patch:
      statistics.filesChanged === 0
        ? { ...statistics, status: "empty" }
        : { ...statistics, status: "kept", path, ...(unmerged.length > 0 && { unmerged }) },
    ...(leftOut.length > 0 && { leftOut }),
    ...(commits !== undefined && { commits }),
    parts,
  };
}

export async function keepOutput(
  { services: { settings }, artifactsFolder, fileName }: KeptPlace,
  text: string,
): Promise<Pick<TaskResult, "output" | "outputTruncated" | "outputPath">> {
  const { content, truncated } = truncateTail(text, {
    maxBytes: settings.get("task.maxOutputBytes"),
    maxLines: settings.get("task.maxOutputLines"),
  });
  if (!truncated) return { output: text };
  const path = join(artifactsFolder, `${fileName}.md`);
  const isKept = await writeFile(path, text, { mode: 0o600 }).then(
    () => true,
    () => false,
  );
  return { output: content, outputTruncated: true, ...(isKept && { outputPath: path }) };
}
