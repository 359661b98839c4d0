import type { FileHandle } from "node:fs/promises";
import { namedFiles } from "./named-files.ts";
import type { SessionKey, SessionStore, StoredBlob, StoreEntry } from "./session-store.ts";
import { TemporaryFiles } from "./temporary-files.ts";

/** How many bytes of a file go into one blob; most files are smaller. */
const PIECE_BYTES = 8 * 1024 * 1024;
/** Larger files stay on the machine that made them. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
/** How many bytes are restored when a session is opened; the rest is restored when a tool needs it. */
const RESTORED_BYTES = 16 * 1024 * 1024;
/** The member of a stored entry that says where the files it names are stored. */
const MEMBER = "storedFiles";

interface StoredFile {
  /** The path when the entry was written. */
  readonly path: string;
  /** The name in the temporary folder of any machine. */
  readonly name: string;
  /** For a file: the blobs with its bytes, in order. */
  readonly blobs?: readonly string[] | undefined;
  readonly size?: number | undefined;
  /** For a subagent's session file: the log that it is created from. */
  readonly log?: Pick<SessionKey, "sessionId" | "subpath"> | undefined;
}

interface KnownFile extends StoredFile {
  /** The log with the entry that names the file. */
  readonly key: SessionKey;
}

export interface FileWriter {
  readonly put: (bytes: Uint8Array) => Promise<StoredBlob>;
  /** Stores a session file as a log; returns false if there is no such file. */
  readonly putLog: (key: SessionKey, path: string) => Promise<boolean>;
}

/**
 * The files that the entries of stored sessions name: full outputs, patches, artifacts and session files of subagents.
 * They go to the store with the entry that names them, and come back on a machine that lacks them.
 */
export class SessionFiles {
  readonly #store: SessionStore;
  readonly #temporary: TemporaryFiles;
  /** By path on this machine; the latest last. */
  readonly #known = new Map<string, KnownFile>();
  readonly #restoring = new Map<string, Promise<number>>();

  constructor(store: SessionStore, temporaryDirectory: string) {
    this.#store = store;
    this.#temporary = new TemporaryFiles(temporaryDirectory);
  }

  /** Opens the session file of a subagent; undefined if it is not on this machine. */
  open(path: string): Promise<FileHandle | undefined> {
    return this.#temporary.open(path);
  }

  /** Records the stored log of a subagent for its session file. */
  noteLog(path: string, key: SessionKey): void {
    const name = this.#temporary.nameOf(path);
    const { sessionId, subpath } = key;
    if (name !== undefined) this.#know({ path, name, log: { sessionId, subpath }, key });
  }

  /** The log of a subagent whose session file this is; undefined for any other path. */
  logAt(path: string): Pick<SessionKey, "sessionId" | "subpath"> | undefined {
    return this.#known.get(path)?.log;
  }

  /** Stores the files that an entry names. Returns the entry in the form to be written. */
  async keep(key: SessionKey, entry: object, writer: FileWriter): Promise<object> {
    const { files, logs } = namedFiles(entry);
    const kept: (StoredFile | undefined)[] = [];
    for (const path of files) kept.push(await this.#keepFile(key, path, writer));
    for (const { path, part } of logs) kept.push(await this.#keepLog(key, path, { part, writer }));
    const stored = kept.filter((file) => file !== undefined);
    return stored.length === 0 ? entry : { ...entry, [MEMBER]: stored };
  }

  /** The entry of a line as it was before {@link keep}, with the paths of its files on this machine. */
  take(key: SessionKey, line: StoreEntry): StoreEntry {
    if (!Object.hasOwn(line, MEMBER)) return line;
    const { [MEMBER]: value, ...entry } = line;
    let text: string | undefined;
    for (const file of Array.isArray(value) ? value.filter(isStoredFile) : []) {
      const path = this.#temporary.pathOf(file.name);
      if (path === undefined) continue;
      this.#know({ ...file, path, key });
      if (path !== file.path) {
        text = (text ?? JSON.stringify(entry)).replaceAll(inner(file.path), inner(path));
      }
    }
    return text === undefined ? entry : (JSON.parse(text) as StoreEntry);
  }

  /** Restores missing files, the latest first, up to an amount that takes negligible time. */
  async restoreSome(): Promise<void> {
    let left = RESTORED_BYTES;
    const done = new Set<string>();
    // A subagent's session file may name more files.
    for (let found = this.#latest(done); found !== undefined; found = this.#latest(done)) {
      done.add(found.path);
      if ((found.size ?? 0) <= left) left -= await this.#restore(found);
      if (left <= 0) return;
    }
  }

  /** Restores missing files whose paths are in the arguments of a call; undefined if there are none. */
  restoreNamed(args: unknown): Promise<void> | undefined {
    if (this.#known.size === 0) return undefined;
    const text = JSON.stringify(args) ?? "";
    const named = [...this.#known.values()].filter(({ path }) => text.includes(inner(path)));
    if (named.length === 0) return undefined;
    return Promise.all(named.map((file) => this.#restore(file))).then(() => undefined);
  }

  async #keepFile(
    key: SessionKey,
    path: string,
    { put }: FileWriter,
  ): Promise<StoredFile | undefined> {
    const known = this.#known.get(path);
    if (known !== undefined && isSameKey(known.key, key)) return storedPart(known);
    const name = this.#temporary.nameOf(path);
    if (name === undefined) return undefined;
    const blobs: string[] = [];
    let size = 0;
    const pieces = this.#piecesOf(path, known)[Symbol.asyncIterator]();
    try {
      for (;;) {
        // A file that cannot be read is missing on other machines, but does not prevent writing the entry.
        const next = await pieces.next().catch(() => undefined);
        if (next === undefined) return undefined;
        if (next.done) break;
        blobs.push((await put(next.value)).id);
        size += next.value.length;
      }
    } finally {
      await pieces.return?.().catch(() => undefined);
    }
    if (blobs.length === 0) return undefined;
    const file = { path, name, size, blobs };
    this.#know({ ...file, key });
    return file;
  }

  async #keepLog(
    key: SessionKey,
    path: string,
    { part, writer }: { part: string; writer: FileWriter },
  ): Promise<StoredFile | undefined> {
    const { sessionId, subpath } = key;
    const below = subpath === undefined ? part : `${subpath}/${part}`;
    const known = this.#known.get(path);
    // If another call has resumed the subagent, the file has been continued since.
    if (known?.log !== undefined && isNamed(known.log.subpath, below)) return storedPart(known);
    const name = this.#temporary.nameOf(path);
    if (name === undefined) return undefined;
    if (!(await writer.putLog({ ...key, subpath: below }, path))) {
      return known && storedPart(known);
    }
    const file = { path, name, log: { sessionId, subpath: below } };
    this.#know({ ...file, key });
    return file;
  }

  /** The content on disk, or the copy that the store has for another session. */
  async *#piecesOf(path: string, known: KnownFile | undefined): AsyncIterable<Uint8Array> {
    const file = await this.#temporary.open(path);
    if (file === undefined) {
      if (known !== undefined) yield* this.#storedPieces(known);
      return;
    }
    try {
      const { size } = await file.stat();
      if (size > MAX_FILE_BYTES) return;
      for (let at = 0; at < size; ) {
        const length = Math.min(PIECE_BYTES, size - at);
        const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, at);
        if (bytesRead === 0) return;
        yield buffer.subarray(0, bytesRead);
        at += bytesRead;
      }
    } finally {
      await file.close();
    }
  }

  async *#storedPieces({ key, blobs = [], log }: KnownFile): AsyncIterable<Uint8Array> {
    if (log !== undefined) {
      const { projectKey } = key;
      const logKey = { projectKey, ...log };
      const lines = await this.#store.load(logKey);
      for (const line of lines ?? []) {
        yield Buffer.from(`${JSON.stringify(this.take(logKey, line))}\n`);
      }
      return;
    }
    for (const id of blobs) {
      const bytes = await this.#store.getBlob(key, id);
      if (bytes === null) throw new Error(`the store lacks ${id}`);
      yield bytes;
    }
  }

  /** Returns the number of bytes written; a file that cannot be restored stays missing. */
  #restore(file: KnownFile): Promise<number> {
    const { path } = file;
    const running = this.#restoring.get(path);
    if (running !== undefined) return running;
    const restored = this.#restoreNow(file)
      .catch(() => 0)
      .finally(() => this.#restoring.delete(path));
    this.#restoring.set(path, restored);
    return restored;
  }

  async #restoreNow(file: KnownFile): Promise<number> {
    const found = await this.#temporary.sizeOf(file.path);
    if (found !== undefined && (file.size === undefined || found === file.size)) return 0;
    let written = 0;
    const pieces = this.#storedPieces(file);
    await this.#temporary.write(
      file.path,
      (async function* () {
        for await (const piece of pieces) {
          written += piece.length;
          yield piece;
        }
      })(),
    );
    return written;
  }

  #know(file: KnownFile): void {
    this.#known.delete(file.path);
    this.#known.set(file.path, file);
  }

  #latest(done: ReadonlySet<string>): KnownFile | undefined {
    return [...this.#known.values()].findLast(({ path }) => !done.has(path));
  }
}

/** Other programs may write to a store, so its data is checked. */
function isStoredFile(value: unknown): value is StoredFile {
  const { path, name, blobs, size, log } = Object(value) as Partial<Record<string, unknown>>;
  if (typeof path !== "string" || typeof name !== "string" || path === "") return false;
  if (log !== undefined) {
    const { sessionId, subpath } = Object(log) as Partial<Record<string, unknown>>;
    return isName(sessionId) && isName(subpath);
  }
  const isListed = Array.isArray(blobs) && blobs.every((id) => typeof id === "string");
  return isListed && typeof size === "number";
}

/** Whether a log has this name, or is a later log of the same call. */
function isNamed(subpath: string | undefined, name: string): boolean {
  return subpath === name || subpath?.startsWith(`${name}~`) === true;
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function storedPart({ key: _, ...file }: KnownFile): StoredFile {
  return file;
}

function isSameKey(one: SessionKey, other: SessionKey): boolean {
  return one.sessionId === other.sessionId && one.subpath === other.subpath;
}

/** A text as it appears inside a JSON string. */
function inner(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
