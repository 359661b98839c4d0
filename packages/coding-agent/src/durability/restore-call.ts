import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { unlessMissing } from "@tau-agent/system";
import type { RestoredFiles } from "@tau-agent/worktrees";
import { type CallRecord, type CallRecords, hashOf } from "./call-records.ts";

export interface RestoreParts {
  readonly workspace: Workspace;
  readonly records: CallRecords;
  /** Reverts a command's changes in the folder; undefined if the folder is not recorded. */
  readonly restoreFolder?:
    | ((folder: string, snapshot: string, endedAt: number) => Promise<RestoredFiles>)
    | undefined;
  /** Whether other sessions have changed something in the folder meanwhile. */
  readonly isShared?: boolean;
}

/** Reverts the changes of an interrupted call, except for files that were changed since. */
export async function restoreCall(
  record: CallRecord,
  { workspace, records, restoreFolder, isShared = false }: RestoreParts,
  endedAt: number,
): Promise<RestoredFiles> {
  const restored: string[] = [];
  const left: string[] = [];
  const notCovered: string[] = [];
  for (const [index, file] of [...record.files.entries()].reverse()) {
    const state = await restoreFile(record, index, { workspace, records });
    if (state === "restored") restored.push(file.path);
    if (state === "left") left.push(file.path);
  }
  if (record.snapshot !== undefined && restoreFolder !== undefined) {
    // The command's changes cannot be told apart from those of others.
    const before = isShared ? Number.NEGATIVE_INFINITY : endedAt;
    const files = await restoreFolder(record.folder, record.snapshot, before);
    restored.push(...files.restored);
    left.push(...files.left);
    notCovered.push(...files.notCovered);
  }
  return { restored, left, notCovered };
}

async function restoreFile(
  record: CallRecord,
  index: number,
  { workspace, records }: RestoreParts,
): Promise<"restored" | "left" | "same"> {
  const file = record.files[index];
  if (file === undefined) return "same";
  const { path, existed, mode } = file;
  await removeTemporary(path, workspace);
  const [before, now] = await Promise.all([
    existed ? records.readContent(record, index) : undefined,
    unlessMissing(workspace.read(path)),
  ]);
  if (now === undefined && before === undefined) {
    await removeFolders(path, file.madeFolder, workspace);
    return "same";
  }
  if (now !== undefined && before !== undefined && hashOf(now) === hashOf(before)) return "same";
  if (now === undefined || hashOf(now) !== file.written) return "left";
  if (before === undefined) {
    await workspace.remove(path);
    await removeFolders(path, file.madeFolder, workspace);
  } else await workspace.write(path, before, { mode });
  return "restored";
}

/** Removes temporary files that a host left when it died during a write. */
async function removeTemporary(path: string, workspace: Workspace): Promise<void> {
  const [folder, name] = parts(path);
  const entries = (await unlessMissing(workspace.list(folder))) ?? [];
  const prefix = `.${name.slice(0, 100)}.`;
  for (const { name: other, kind } of entries) {
    const isOurs =
      other.startsWith(prefix) && /^[0-9a-f]{12}\.tmp$/.test(other.slice(prefix.length));
    if (kind === "file" && isOurs) await unlessMissing(workspace.remove(`${folder}/${other}`));
  }
}

async function removeFolders(
  path: string,
  topmost: string | undefined,
  workspace: Workspace,
): Promise<void> {
  if (topmost === undefined) return;
  for (let [folder] = parts(path); folder.length >= topmost.length; [folder] = parts(folder)) {
    // The folder may contain other files by now.
    if ((await workspace.remove(folder).catch(() => false)) === false) return;
  }
}

function parts(path: string): [folder: string, name: string] {
  const at = path.lastIndexOf("/");
  return [path.slice(0, Math.max(at, 1)), path.slice(at + 1)];
}
