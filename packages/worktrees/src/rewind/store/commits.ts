import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { FileState } from "../files/file-state.ts";
import type { ObjectStore } from "./object-store.ts";
import { treeContent } from "./tree-objects.ts";

/** Facts about a snapshot's files that git cannot store. */
export interface SnapshotNotes {
  /** Paths that were left out, one character per byte. */
  readonly notCovered: readonly string[];
  /** The permission bits of most files and of most executable ones. */
  readonly usual: readonly [file: number, executable: number];
  /** Permission bits that differ from the usual ones. */
  readonly modes: Readonly<Record<string, number>>;
}

export function notesOf(
  files: ReadonlyMap<string, FileState>,
  notCovered: readonly string[],
): SnapshotNotes {
  const counts = [new Map<number, number>(), new Map<number, number>()] as const;
  for (const { kind, mode } of files.values()) {
    if (kind !== "file") continue;
    const count = counts[mode & 0o100 ? 1 : 0];
    count.set(mode, (count.get(mode) ?? 0) + 1);
  }
  const mostOf = (count: ReadonlyMap<number, number>, fallback: number) =>
    [...count].reduce((best, next) => (next[1] > best[1] ? next : best), [fallback, 0])[0] ??
    fallback;
  const usual = [mostOf(counts[0], 0o644), mostOf(counts[1], 0o755)] as const;
  const modes: Record<string, number> = Object.create(null);
  for (const [path, { kind, mode }] of files) {
    if (kind === "file" && mode !== usual[mode & 0o100 ? 1 : 0]) modes[path] = mode;
  }
  return { notCovered, usual, modes };
}

/** Writes the commit of a snapshot: its files, and the facts that git cannot store. */
export function writeCommit(
  store: ObjectStore,
  snapshot: { readonly tree: string; readonly notes: SnapshotNotes },
  { message, parents = [] }: { readonly message: string; readonly parents?: readonly string[] },
): string {
  const notes = store.write("blob", Buffer.from(JSON.stringify(snapshot.notes)));
  const tree = store.write(
    "tree",
    treeContent([
      { name: "files", mode: "40000", id: snapshot.tree },
      { name: "notes", mode: "100644", id: notes },
    ]),
  );
  const person = `Tau <tau@localhost> ${Math.floor(Date.now() / 1000)} +0000`;
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${person}`,
    `committer ${person}`,
    "",
    message,
    "",
  ];
  return store.write("commit", Buffer.from(lines.join("\n")));
}

export async function readNotes(store: ObjectStore, commit: string): Promise<SnapshotNotes> {
  const [id = ""] = await store.lines(["rev-parse", "--verify", "--quiet", `${commit}:notes`]);
  const content = id === "" ? undefined : await store.readOne(id);
  const notes: unknown = JSON.parse(content?.toString() ?? "null");
  if (!isJsonObject(notes)) throw new TypeError(`the checkpoint's commit ${commit} is gone`);
  return notes as unknown as SnapshotNotes;
}
