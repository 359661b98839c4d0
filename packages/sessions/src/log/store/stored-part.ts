import type { FileHandle } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { parseObject } from "@tau-agent/rpc-protocol/plain";
import { reaching } from "./open-stored-session.ts";
import type { SessionPart } from "./session-part.ts";
import type { SessionKey, StoreLease } from "./session-store.ts";
import { referenceOf, type StoreAccess, storeErrorCode } from "./store-access.ts";
import { StoreJournal } from "./store-journal.ts";

/** The pause between two attempts to begin. */
const PAUSE_MS = 100;
const READ_BYTES = 1024 * 1024;
const NEWLINE = 10;

/** Begins a log under a name that no other part has. */
export async function openStoredPart(
  access: StoreAccess,
  wanted: SessionKey,
): Promise<SessionPart> {
  const { store, leaseMs, owner } = access;
  for (let count = 1; ; count++) {
    const key = { ...wanted, subpath: numbered(wanted.subpath, count) };
    const begin = async () => {
      if ((await store.load(key)) !== null) return undefined;
      // Another process may be about to write it.
      return store.acquire(key, leaseMs, owner).catch((error: unknown) => {
        if (storeErrorCode(error) === "lease_held") return undefined;
        throw error;
      });
    };
    const lease = await reaching(access, referenceOf(key), () => repeated(access, begin));
    if (lease !== undefined) return createStoredPart(access, key, lease);
  }
}

/** A log below a session's log, which copies what a subagent writes to its own file. */
function createStoredPart(access: StoreAccess, key: SessionKey, lease: StoreLease): SessionPart {
  let filePath: string | undefined;
  /** How much of the file has been read, up to the end of a line. */
  let offset = 0;
  /** Serialises reads of the file. */
  let reading: Promise<unknown> = Promise.resolve();
  const journal = new StoreJournal(access, key, { lease, lines: 0 });

  async function readFile(path: string | undefined): Promise<void> {
    const { files } = access;
    const file = path === undefined ? undefined : await files?.open(path);
    if (path === undefined || file === undefined) return;
    if (filePath === undefined) files?.noteLog(path, key);
    filePath = path;
    try {
      const lines = await newLines(file);
      if (lines.length > 0) journal.add(lines);
    } finally {
      await file.close();
    }
  }

  /** The complete lines; anything after the last of them is read next time. */
  async function newLines(file: FileHandle): Promise<object[]> {
    const pieces: Buffer[] = [];
    for (let at = offset; ; ) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, at);
      if (bytesRead === 0) break;
      pieces.push(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
    const bytes = Buffer.concat(pieces);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    offset += end;
    // A damaged line is skipped, as when the file is opened.
    const lines = bytes.toString("utf8", 0, end).split("\n");
    return lines.map(parseObject).filter((entry) => entry !== undefined);
  }

  return {
    reference: referenceOf(key),
    get hasFile() {
      return filePath !== undefined;
    },
    async catchUp(path) {
      const read = reading.then(() => readFile(path ?? filePath));
      reading = read.catch(() => undefined);
      await read;
      await journal.stored();
    },
    async add(lines) {
      journal.add(lines);
      await journal.stored();
    },
    close: () => journal.close(),
  };
}

/** Waits for an unavailable store, like every other write of a session. */
async function repeated<T>({ timeoutMs }: StoreAccess, call: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const isLost = storeErrorCode(error) === "lease_lost";
      if (isLost || performance.now() + PAUSE_MS >= deadline) throw error;
      await pause(PAUSE_MS);
    }
  }
}

/**
 * Stores a session file as a log.
 *
 * @returns whether the file is here
 */
export async function storeLog(
  access: StoreAccess,
  key: SessionKey,
  path: string,
): Promise<boolean> {
  const file = await access.files?.open(path);
  if (file === undefined) return false;
  await file.close();
  const part = await openStoredPart(access, key);
  try {
    await part.catchUp(path);
  } finally {
    await part.close();
  }
  return true;
}

/** The name of a part that is not the first with its base name. */
export function numbered(subpath: string | undefined, count: number): string {
  return count === 1 ? (subpath ?? "") : `${subpath}~${count}`;
}
