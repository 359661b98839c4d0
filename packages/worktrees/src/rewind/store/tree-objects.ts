import { parentOf } from "../../git/file-names.ts";
import type { FileState } from "../files/file-state.ts";
import type { ObjectStore } from "./object-store.ts";

interface TreeEntry {
  readonly name: string;
  readonly mode: string;
  readonly id: string;
}

type Trees = Map<string, Buffer>;

const folderMode = "40000";

/** Writes the tree of a folder's files; returns its id. */
export async function writeTree(
  store: ObjectStore,
  files: ReadonlyMap<string, FileState>,
): Promise<string> {
  const trees: Trees = new Map();
  const id = treeOf(store, files, trees);
  await writeMissing(store, trees);
  return id;
}

/** Writes missing trees; asking git which are missing pays off only for many. */
async function writeMissing(store: ObjectStore, trees: Trees): Promise<void> {
  const absent = trees.size > 50 ? await store.missing(trees.keys()) : new Set(trees.keys());
  for (const id of absent) {
    const content = trees.get(id);
    if (content !== undefined) store.write("tree", content, id);
  }
}

function treeOf(store: ObjectStore, files: ReadonlyMap<string, FileState>, trees: Trees): string {
  const folders = new Map<string, TreeEntry[]>([["", []]]);
  const entriesOf = (folder: string): TreeEntry[] => {
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const entries: TreeEntry[] = [];
    // A folder comes after its parent, so that in reverse order the deepest are written first.
    entriesOf(parentOf(folder));
    folders.set(folder, entries);
    return entries;
  };
  for (const [path, { kind, mode, id }] of files) {
    if (kind === "folder") entriesOf(path);
    else {
      const name = path.slice(path.lastIndexOf("/") + 1);
      const gitMode = kind === "link" ? "120000" : mode & 0o100 ? "100755" : "100644";
      entriesOf(parentOf(path)).push({ name, mode: gitMode, id });
    }
  }
  let id = "";
  for (const [folder, entries] of [...folders].reverse()) {
    const content = treeContent(entries);
    id = store.idOf("tree", content);
    trees.set(id, content);
    if (folder === "") break;
    const name = folder.slice(folder.lastIndexOf("/") + 1);
    folders.get(parentOf(folder))?.push({ name, mode: folderMode, id });
  }
  return id;
}

/** The bytes of a tree; git sorts folders as if their names ended with a slash. */
export function treeContent(entries: readonly TreeEntry[]): Buffer {
  const sorted = entries.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  const heads = sorted.map(({ name, mode }) => `${mode} ${name}\0`);
  const size = sorted.reduce(
    (sum, { id }, at) => sum + (heads[at]?.length ?? 0) + id.length / 2,
    0,
  );
  const content = Buffer.allocUnsafe(size);
  let position = 0;
  for (const [at, { id }] of sorted.entries()) {
    position += content.write(heads[at] ?? "", position, "latin1");
    position += content.write(id, position, "hex");
  }
  return content;
}

const keyOf = ({ name, mode }: TreeEntry) => (mode === folderMode ? `${name}/` : name);
