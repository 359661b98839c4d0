import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { parseObject } from "@tau-agent/rpc-protocol/plain";
import { errorCode, randomHex } from "@tau-agent/system";
import type { StoreEntry } from "../../log/store/session-store.ts";
import type { EntryLine } from "../common/entry-lines.ts";

/** The ids in a log at the time when its size was `sizeBytes`. */
export interface KnownIds {
  readonly ids: Set<string>;
  sizeBytes: number;
}

/** The complete lines of a log as entries; lines that are not JSON objects are skipped. */
export function readEntries(path: string): StoreEntry[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
  const lines = text.split("\n");
  // Text after the last line feed is still being written, or was torn.
  lines.pop();
  return lines.flatMap((line) => {
    const entry = readEntry(line);
    return entry === undefined ? [] : [entry];
  });
}

/** The ids in a log; read again only if another process has written to it. */
export function idsOf(path: string, known: KnownIds | undefined): KnownIds {
  const sizeBytes = sizeOf(path);
  if (known !== undefined && known.sizeBytes === sizeBytes) return known;
  const ids = new Set<string>();
  for (const { id } of readEntries(path)) if (typeof id === "string") ids.add(id);
  return { ids, sizeBytes };
}

/** Appends lines, all of them or none, and returns the size of the file. */
export function appendLines(path: string, lines: readonly EntryLine[]): number {
  const file = openSync(path, "a+", 0o600);
  try {
    const begin = mendTail(path, file);
    const bytes = Buffer.from(lines.map(({ text }) => `${text}\n`).join(""));
    try {
      let written = 0;
      while (written < bytes.length) {
        written += writeSync(file, bytes, written, bytes.length - written);
      }
    } catch (error) {
      ftruncateSync(file, begin);
      throw error;
    }
    return begin + bytes.length;
  } finally {
    closeSync(file);
  }
}

/** Repairs a last line without a line feed: a complete one gets its line feed, a torn one is moved aside. */
function mendTail(path: string, file: number): number {
  const { size } = fstatSync(file);
  if (size === 0 || read(file, size - 1, 1)[0] === 0x0a) return size;
  const bytes = read(file, 0, size);
  const begin = bytes.lastIndexOf(0x0a) + 1;
  const tail = bytes.subarray(begin);
  if (readEntry(tail.toString("utf8")) !== undefined) {
    writeSync(file, "\n");
    return size + 1;
  }
  writeFileSync(`${path}.torn-${randomHex(4)}`, tail, { mode: 0o600, flag: "wx" });
  ftruncateSync(file, begin);
  return begin;
}

function read(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const count = readSync(file, bytes, done, length - done, at + done);
    if (count === 0) break;
    done += count;
  }
  return bytes;
}

function readEntry(line: string): StoreEntry | undefined {
  return parseObject(line) as StoreEntry | undefined;
}

function sizeOf(path: string): number {
  try {
    const file = openSync(path, "r");
    try {
      return fstatSync(file).size;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (errorCode(error) === "ENOENT") return 0;
    throw error;
  }
}
