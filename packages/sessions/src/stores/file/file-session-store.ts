import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { attempt, errorCode, makeFolderNow, randomHex, Turns } from "@tau-agent/system";
import { SessionLease } from "../../log/file/session-lease.ts";
import { sessionFileName } from "../../log/file/session-path.ts";
import {
  type LeaseToken,
  type SessionKey,
  type SessionStore,
  SessionStoreError,
  type StoredBlob,
  type StoredSession,
  type StoreEntry,
  type StoreLease,
} from "../../log/store/session-store.ts";
import { blobId } from "../common/blob-id.ts";
import { entryLines, parseEntry, unknownLines } from "../common/entry-lines.ts";
import { checkTtl, keyText } from "../common/keys.ts";
import { checkToken } from "../common/lease-record.ts";
import { guarded } from "./file-guard.ts";
import {
  filesOf,
  findLog,
  isHashed,
  type KeyFiles,
  projectFolder,
  sessionFiles,
  sessionNameOf,
} from "./file-names.ts";
import { type FileLease, holdsOut, readLease, writeLease } from "./lease-file.ts";
import { endsIn } from "./lease-time.ts";
import { appendLines, idsOf, type KnownIds, readEntries } from "./log-file.ts";

/** Where a {@link FileSessionStore} keeps its files. */
export interface FileSessionStoreOptions {
  /** The folder that contains a folder for each project, such as `~/.pi/agent/sessions`. */
  readonly directory: string;
}

/**
 * A store in files, in the format that hosts use without a store: both find each other's sessions, and neither
 * writes to a session that the other has open. Processes on one machine may share the folder.
 */
export class FileSessionStore implements SessionStore {
  readonly #directory: string;
  /** Queues work for the same session, by folder. */
  readonly #turns = new Turns();
  readonly #known = new Map<string, KnownIds>();
  /** Locks that keep out hosts without a store, by key. */
  readonly #locks = new Map<string, SessionLease>();

  constructor({ directory }: FileSessionStoreOptions) {
    this.#directory = resolve(directory);
  }

  acquire(key: SessionKey, ttlMs: number, owner?: string): Promise<StoreLease> {
    return this.#inGuard(key, (files) => {
      checkTtl(ttlMs);
      const held = readLease(leaseOf(files));
      if (holdsOut(held)) throw new SessionStoreError("lease_held");
      const token = (held?.token ?? 0) + 1;
      const log = logOf(files);
      if (log !== undefined) this.#lock(key, log, held);
      const time = endsIn(ttlMs);
      const lock = lockText(log);
      writeLease(leaseOf(files), { token, ...time, isReleased: false, owner, lock });
      return { key, token, owner, expiresAt: time.expiresAt };
    });
  }

  renew(lease: StoreLease, ttlMs: number): Promise<StoreLease> {
    return this.#inGuard(lease.key, (files) => {
      checkTtl(ttlMs);
      const time = endsIn(ttlMs);
      const record = checkToken(readLease(leaseOf(files)), lease);
      writeLease(leaseOf(files), { ...record, ...time });
      return { ...lease, expiresAt: time.expiresAt };
    });
  }

  release(lease: StoreLease): Promise<void> {
    return this.#inGuard(lease.key, (files) => {
      const record = readLease(leaseOf(files));
      if (record?.token !== lease.token || record.isReleased) return;
      writeLease(leaseOf(files), { ...record, isReleased: true });
      this.#unlock(lease.key);
    });
  }

  async append(key: SessionKey, entries: readonly object[], lease: LeaseToken): Promise<void> {
    // Converted now, because the caller may change its entries while this waits.
    const lines = entryLines(entries);
    const header = lines[0] && parseEntry(lines[0].text);
    await this.#inGuard(key, (files, text) => {
      const record: FileLease = checkToken(readLease(leaseOf(files)), lease);
      if (lines.length === 0) return;
      const found = logOf(files);
      const path = found ?? newLog(files, key, header);
      if (found === undefined) {
        this.#lock(key, path, record);
        writeLease(leaseOf(files), { ...record, lock: lockText(path) });
        if (isHashed(files.session)) writeKey(files, key);
      }
      const known = idsOf(path, this.#known.get(text));
      this.#known.set(text, known);
      const added = unknownLines(lines, known.ids);
      if (added.length === 0) return;
      known.sizeBytes = appendLines(path, added);
      for (const { id } of added) if (id !== undefined) known.ids.add(id);
    });
  }

  async load(key: SessionKey): Promise<StoreEntry[] | null> {
    const path = logOf(filesOf(this.#directory, key));
    const entries = path === undefined ? [] : readEntries(path);
    return entries.length === 0 ? null : entries;
  }

  async list(projectKey: string): Promise<StoredSession[]> {
    const project = projectFolder(this.#directory, projectKey);
    return sessionFiles(project).flatMap((file) => {
      const name = sessionNameOf(file);
      const sessionId = isHashed(name) ? readKey(join(project, ".store", name)) : name;
      const { mtimeMs, size } = statSync(join(project, file), { throwIfNoEntry: false }) ?? {};
      if (sessionId === undefined || mtimeMs === undefined || size === 0) return [];
      return [{ projectKey, sessionId, modifiedAt: Math.round(mtimeMs) }];
    });
  }

  delete(key: SessionKey, lease?: LeaseToken): Promise<void> {
    return this.#inGuard(key, (files, text) => {
      const held = readLease(leaseOf(files));
      if (holdsOut(held) && held?.token !== lease?.token) throw new SessionStoreError("lease_held");
      const log = logOf(files);
      if (log !== undefined) this.#lock(key, log, held);
      for (const name of readdirSync(files.side)) {
        const path = join(files.side, name);
        if (key.subpath !== undefined && !path.startsWith(`${files.prefix}.`)) continue;
        // Tokens outlive the session: a holder of an old one must not bring the session back.
        if (name.endsWith(".lease")) endLease(path);
        else if (!name.startsWith("guard")) rmSync(path, { recursive: true, force: true });
      }
      if (log !== undefined) rmSync(log, { force: true });
      this.#unlock(key);
      this.#known.delete(text);
    });
  }

  async putBlob(key: SessionKey, bytes: Uint8Array): Promise<StoredBlob> {
    const folder = blobsOf(filesOf(this.#directory, key));
    const id = blobId(bytes);
    makeFolderNow(folder, 0o700);
    const path = join(folder, blobName(id));
    const draft = `${path}.${randomHex(6)}`;
    writeFileSync(draft, bytes, { mode: 0o600, flag: "wx" });
    renameSync(draft, path);
    return { id, size: bytes.byteLength };
  }

  async getBlob(key: SessionKey, id: string): Promise<Uint8Array | null> {
    if (!/^sha256:[0-9a-f]{64}$/.test(id)) return null;
    try {
      return readFileSync(join(blobsOf(filesOf(this.#directory, key)), blobName(id)));
    } catch (error) {
      if (errorCode(error) === "ENOENT") return null;
      throw unavailable(error);
    }
  }

  /** Runs a step exclusively, in the order of the calls. */
  async #inGuard<T>(key: SessionKey, step: (files: KeyFiles, text: string) => T): Promise<T> {
    const text = keyText(key);
    const files = filesOf(this.#directory, key);
    try {
      return await this.#turns.take(files.side, () => {
        makeFolderNow(files.side, 0o700);
        return guarded(join(files.side, "guard"), () => step(files, text));
      });
    } catch (error) {
      if (error instanceof SessionStoreError) throw error;
      if (error instanceof SessionError && error.code === "session_locked") {
        throw new SessionStoreError("lease_held", error.message, { cause: error });
      }
      throw unavailable(error);
    }
  }

  /** Keeps out hosts without a store; takes over a lock that an earlier lease of this key left. */
  #lock(key: SessionKey, log: string, held: FileLease | undefined): void {
    if (key.subpath !== undefined) return;
    this.#unlock(key);
    const left = lockText(log);
    if (left !== undefined && left === held?.lock) rmSync(`${log}.lock`, { force: true });
    this.#locks.set(keyText(key), new SessionLease(log));
  }

  #unlock(key: SessionKey): void {
    this.#locks.get(keyText(key))?.release();
    this.#locks.delete(keyText(key));
  }
}

function leaseOf({ prefix }: KeyFiles): string {
  return `${prefix}.lease`;
}

function blobsOf({ prefix }: KeyFiles): string {
  return `${prefix}.blobs`;
}

function blobName(id: string): string {
  return id.slice("sha256:".length);
}

function logOf(files: KeyFiles): string | undefined {
  if (files.log === undefined) return findLog(files.project, files.session);
  return statSync(files.log, { throwIfNoEntry: false }) === undefined ? undefined : files.log;
}

/** The path of a new log; a session's log is named as hosts name theirs. */
function newLog(files: KeyFiles, key: SessionKey, header: StoreEntry = {}): string {
  if (files.log !== undefined) return files.log;
  const { type, id, timestamp } = header;
  const isHeader = type === "session" && id === key.sessionId && typeof timestamp === "string";
  const date = new Date(isHeader ? timestamp : Date.now());
  const time = Number.isNaN(date.getTime()) ? new Date() : date;
  mkdirSync(files.project, { recursive: true, mode: 0o700 });
  return join(files.project, sessionFileName(time.toISOString(), files.session));
}

function lockText(log: string | undefined): string | undefined {
  if (log === undefined) return undefined;
  return attempt(() => readFileSync(`${log}.lock`, "utf8"));
}

function endLease(path: string): void {
  const record = readLease(path);
  if (record !== undefined) writeLease(path, { ...record, isReleased: true });
}

function writeKey({ side }: KeyFiles, { sessionId }: SessionKey): void {
  writeFileSync(join(side, "key.json"), JSON.stringify(sessionId), { mode: 0o600 });
}

function readKey(side: string): string | undefined {
  return attempt(() => JSON.parse(readFileSync(join(side, "key.json"), "utf8")) as string);
}

function unavailable(cause: unknown): SessionStoreError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new SessionStoreError("unavailable", reason, { cause });
}
