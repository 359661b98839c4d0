import { attempt, FolderDoor } from "@tau-agent/system";
import { type WalkedFile, walk } from "../../files/walk.ts";
import { listIgnoredFolders } from "../../git/lists.ts";
import { type CoverageLimits, coverageOf } from "../files/coverage.ts";
import type { FoundFile } from "../files/file-state.ts";
import { notesOf, type SnapshotNotes } from "./commits.ts";
import type { KnownFiles } from "./known-files.ts";
import type { OpenedStore } from "./open-store.ts";
import { writeTree } from "./tree-objects.ts";

export interface FolderSnapshot {
  readonly tree: string;
  readonly notes: SnapshotNotes;
  readonly files: ReadonlyMap<string, FoundFile>;
}

export interface RecordRequest {
  /** The real path of the folder. */
  readonly folder: string;
  /** Real paths that no snapshot may contain. */
  readonly closed: readonly string[];
  readonly limits: CoverageLimits;
  /** Our own paths in the folder, such as the session's file. */
  readonly skipped: ReadonlySet<string>;
}

interface ReadFile {
  readonly file: WalkedFile;
  readonly content: Buffer;
  readonly id: string;
}

const batchBytes = 32 * 1024 * 1024;
/** Up to this many objects are written without asking git whether they exist. */
const fewObjects = 30;

/** Records a folder; files that have not changed since the last time are not read again. */
export async function recordFolder(
  { git, store, isInRepository }: OpenedStore,
  { folder, closed, limits, skipped }: RecordRequest,
  known: KnownFiles,
): Promise<FolderSnapshot> {
  const ignored = async () =>
    isInRepository ? listIgnoredFolders(git, { cwd: folder }) : undefined;
  using door = new FolderDoor(folder, closed);
  const { files: covered, leftOut } = await coverageOf(await walk(door, skipped), limits, ignored);
  const files = new Map<string, FoundFile>();
  const unread: string[] = [];
  let batch: ReadFile[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    await writeContents(store, batch);
    batch = [];
    bytes = 0;
  };
  for (const file of covered) {
    const id = known.idOf(file);
    if (id !== undefined) {
      files.set(file.path, foundFile(file, id));
      continue;
    }
    const content = contentOf(door, file);
    if (content === undefined) {
      unread.push(file.path);
      continue;
    }
    const read = { file, content, id: store.idOf("blob", content) };
    files.set(file.path, foundFile(file, read.id));
    known.note(file, read.id);
    batch.push(read);
    bytes += content.length;
    if (bytes >= batchBytes || batch.length >= 4000) {
      await flush();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  await flush();
  known.keepOnly(files);
  const tree = await writeTree(store, files);
  return { tree, notes: notesOf(files, [...leftOut, ...unread].sort()), files };
}

function foundFile({ kind, stats }: WalkedFile, id: string): FoundFile {
  const { size, mtimeMs, ctimeMs, ino } = stats;
  const mode = kind === "file" ? stats.mode & 0o777 : 0;
  return { kind, mode, id, stamp: { size, mtimeMs, ctimeMs, ino } };
}

/** The content of a file, or the target of a link; undefined if it cannot be read. */
function contentOf(door: FolderDoor, { path, kind }: WalkedFile): Buffer | undefined {
  if (kind === "folder") return Buffer.alloc(0);
  return attempt(() => (kind === "link" ? door.readLink(path) : door.read(path).content));
}

async function writeContents(
  store: OpenedStore["store"],
  batch: readonly ReadFile[],
): Promise<void> {
  const ids = batch.flatMap(({ file, id }) => (file.kind === "folder" ? [] : [id]));
  const missing = ids.length > fewObjects ? await store.missing(ids) : new Set(ids);
  for (const { content, id } of batch) if (missing.has(id)) store.write("blob", content, id);
}
