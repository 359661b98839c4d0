import { type FileState, isSame } from "../files/file-state.ts";
import { readNotes, type SnapshotNotes } from "./commits.ts";
import type { ObjectStore } from "./object-store.ts";
import { treeContent } from "./tree-objects.ts";

interface FileChange {
  readonly path: string;
  readonly before: FileState | undefined;
  readonly after: FileState | undefined;
}

export interface SnapshotChanges {
  readonly changes: readonly FileChange[];
  readonly notCovered: readonly string[];
}

const folderMode = "040000";

/**
 * The changes between the snapshots of two commits.
 *
 * @throws {ToolError} a commit is gone
 */
export async function changesBetween(
  store: ObjectStore,
  before: string,
  after: string,
): Promise<SnapshotChanges> {
  const [old, now] = await Promise.all([readNotes(store, before), readNotes(store, after)]);
  const notCovered = [...new Set([...old.notCovered, ...now.notCovered])].sort();
  const args = ["diff-tree", "-r", "-t", "-z", "--raw", "--no-renames", "--no-abbrev"];
  const listed = await store.changes([...args, `${before}:files`, `${after}:files`]);
  const emptyTree = store.idOf("tree", treeContent([]));
  const found = new Map<string, { before?: FileState; after?: FileState }>();
  const stateOf = (mode: string, id: string, path: string, notes: SnapshotNotes) => {
    if (mode === "000000" || (mode === folderMode && id !== emptyTree)) return undefined;
    return recordedState({ mode, id, path }, notes);
  };
  for (const { oldMode, newMode, oldId, newId, path } of listed) {
    const [was, is] = [stateOf(oldMode, oldId, path, old), stateOf(newMode, newId, path, now)];
    const known = found.get(path) ?? {};
    // A file that became a folder is listed twice.
    if (was !== undefined) known.before = was;
    if (is !== undefined) known.after = is;
    found.set(path, known);
  }
  const changes = [...found].map(([path, states]): FileChange => {
    return { path, before: states.before, after: states.after };
  });
  changes.push(...(await modeChanges(store, { old, now, after }, found)));
  return { changes: changes.filter(({ before: was, after: is }) => !isSame(was, is)), notCovered };
}

/** Files whose only changes are in permission bits that git does not store. */
async function modeChanges(
  store: ObjectStore,
  { old, now, after }: { old: SnapshotNotes; now: SnapshotNotes; after: string },
  found: ReadonlyMap<string, unknown>,
): Promise<FileChange[]> {
  const textOf = ({ usual, modes }: SnapshotNotes) => JSON.stringify([usual, modes]);
  if (textOf(old) === textOf(now)) return [];
  const lines = await store.names(["ls-tree", "-r", "-z", `${after}:files`]);
  return lines.flatMap((line): FileChange[] => {
    const [, mode = "", id = "", path = ""] = /^(\d+) \w+ (\w+)\t(.*)$/s.exec(line) ?? [];
    if (found.has(path)) return [];
    const entry = { mode, id, path };
    return [{ path, before: recordedState(entry, old), after: recordedState(entry, now) }];
  });
}

function recordedState(
  { mode, id, path }: { readonly mode: string; readonly id: string; readonly path: string },
  { modes, usual }: SnapshotNotes,
): FileState {
  if (mode === folderMode) return { kind: "folder", mode: 0, id: "" };
  if (mode === "120000") return { kind: "link", mode: 0, id };
  const own = Object.hasOwn(modes, path) ? modes[path] : undefined;
  return { kind: "file", mode: own ?? usual[mode === "100755" ? 1 : 0], id };
}
