import type { WriteFileOptions } from "node:fs";
import { basename, join } from "node:path";

// Even if a test replaces the module, and before anything can interfere.
const fs = process.getBuiltinModule("node:fs");
const {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
  ftruncateSync,
  closeSync,
} = fs;

/** What was taken in, what was said, and what was put into session files. */
export type Channel = "stdin" | "stdout" | "sessions";

/** Whose frames a recording has. */
export interface RecordingOwner {
  /** File and name of the test. */
  readonly test: string;
  /** The arguments of the host. */
  readonly argv: readonly string[];
  /** What PI_RPC_PROTOCOL is for it. */
  readonly protocol?: string | undefined;
}

/** Says whose recording a folder has. */
export const OWNER_FILE = "owner.json";

/** Lists the hosts that were started without what records them. */
export const UNRECORDED_FILE = "unrecorded.jsonl";

/** A host that was started without what records it. */
export interface UnrecordedHost {
  readonly test: string;
  readonly command: string;
}

/** Lists requests that a vendor would refuse, in a folder with a file for each test. */
const REFUSALS_FOLDER = "refusals";

/** What every process of a test loads first. */
export const PRELOAD = "preload.mjs";

/**
 * All that one process says and hears, byte for byte, in a folder of its own. Whatever is appended is
 * with the operating system at once, so that a `kill -9` loses nothing.
 */
export class Recording {
  readonly #root: string;
  readonly #owner: RecordingOwner;
  #folder: string | undefined;
  readonly #open = new Map<Channel, { part: number; descriptor: number }>();

  constructor(root: string, owner: RecordingOwner) {
    this.#root = root;
    this.#owner = owner;
  }

  append(channel: Channel, data: Uint8Array | string): void {
    const bytes = typeof data === "string" ? Buffer.from(data, "utf8") : data;
    let written = 0;
    while (written < bytes.length) {
      const { descriptor, part } = this.#open.get(channel) ?? this.#openPart(channel, 0);
      try {
        written += writeSync(descriptor, bytes, written, bytes.length - written);
      } catch (error) {
        // A test that limits the size of files limits that of recordings too.
        if ((error as NodeJS.ErrnoException).code !== "EFBIG") throw error;
        closeSync(descriptor);
        this.#openPart(channel, part + 1);
      }
    }
  }

  #openPart(channel: Channel, part: number): { part: number; descriptor: number } {
    if (this.#folder === undefined) {
      const folder = mkdtempSync(join(this.#root, "begun-"));
      writeFileSync(join(folder, OWNER_FILE), JSON.stringify(this.#owner));
      // Only now, so that none without an owner is left by a host that is killed meanwhile.
      this.#folder = join(this.#root, basename(folder).replace("begun-", "recording-"));
      renameSync(folder, this.#folder);
    }
    const name = `${channel}.${String(part).padStart(6, "0")}`;
    const opened = { part, descriptor: openSync(join(this.#folder, name), "a") };
    this.#open.set(channel, opened);
    return opened;
  }
}

/** Hears of every whole line that this process puts into a session file. */
export function watchSessionFiles(onLine: (path: string, line: string) => void): void {
  const files = new Map<number, { path: string; pieces: Buffer[] }>();
  const take = (descriptor: unknown, bytes: Buffer): void => {
    const file = files.get(descriptor as number);
    if (file === undefined) return;
    const end = bytes.lastIndexOf(0x0a);
    if (end === -1) return void file.pieces.push(bytes);
    const whole = Buffer.concat([...file.pieces, bytes.subarray(0, end)]).toString("utf8");
    file.pieces = [bytes.subarray(end + 1)];
    for (const line of whole.split("\n")) if (line !== "") onLine(file.path, line);
  };
  // What is written in one call, by a path, is what a test prepares.
  let isPrepared = false;
  fs.openSync = (path, flags, mode) => {
    const descriptor = openSync(path, flags, mode);
    if (!isPrepared && /\.jsonl(\.migrating-\d+)?$/.test(String(path))) {
      files.set(descriptor, { path: String(path), pieces: [] });
    }
    return descriptor;
  };
  fs.closeSync = (descriptor) => {
    files.delete(descriptor);
    closeSync(descriptor);
  };
  fs.ftruncateSync = (descriptor, length) => {
    ftruncateSync(descriptor, length);
    const file = files.get(descriptor);
    if (file !== undefined) file.pieces = [];
  };
  fs.writeSync = ((descriptor: number, data: Uint8Array | string, ...more: never[]) => {
    const written = writeSync(descriptor, data as Uint8Array, ...more);
    if (files.has(descriptor)) {
      const from = typeof data === "string" ? 0 : Number(more[0] ?? 0);
      take(descriptor, Buffer.from(Buffer.from(data as Uint8Array).subarray(from, from + written)));
    }
    return written;
  }) as typeof fs.writeSync;
  fs.writeFileSync = (file, data, options?: WriteFileOptions) => {
    isPrepared = typeof file !== "number";
    try {
      writeFileSync(file, data, options);
    } finally {
      isPrepared = false;
    }
    if (files.has(file as number)) take(file, Buffer.from(data as string));
  };
  process.getBuiltinModule("node:module").syncBuiltinESMExports();
}

type Spawn = (options: { args?: string[]; envPairs?: string[] }) => number;
const { ChildProcess } = process.getBuiltinModule("node:child_process");
const { prototype: processes } = ChildProcess as unknown as { prototype: { spawn: Spawn } };
const { spawn } = processes;

/** Hears of every host of ours that this process starts without what would record it. */
export function watchSpawns(onUnrecorded: (command: string) => void): void {
  processes.spawn = function (this: unknown, options) {
    const { args = [], envPairs = [] } = options;
    const isRecorded = envPairs.some((pair) => /^NODE_OPTIONS=.*\/preload\.mjs\?/.test(pair));
    if (isHost(args) && !isRecorded) onUnrecorded(args.join(" "));
    return spawn.call(this, options);
  };
}

/** Has the run fail for a host that is not recorded. */
export function noteUnrecorded(root: string, host: UnrecordedHost): void {
  appendFileSync(join(root, UNRECORDED_FILE), `${JSON.stringify(host)}\n`);
}

/** A request that a loopback server refused, whichever process it is in. */
export interface NotedRefusal {
  readonly test: string;
  readonly refusal: unknown;
}

/** Has a test fail for a refusal in a process that it started. */
export function noteRefusal(root: string, noted: NotedRefusal): void {
  mkdirSync(join(root, REFUSALS_FOLDER), { recursive: true });
  const path = join(root, REFUSALS_FOLDER, fileNameOf(noted.test));
  appendFileSync(path, `${JSON.stringify(noted)}\n`);
}

/** The refusals in processes of a test; without a test those that no test has taken. */
export function takeNotedRefusals(root: string, test?: string): NotedRefusal[] {
  const folder = join(root, REFUSALS_FOLDER);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name === fileNameOf(test ?? "") || !test);
  return names.flatMap((name) => {
    const lines = readFileSync(join(folder, name), "utf8").trimEnd().split("\n");
    rmSync(join(folder, name));
    return lines.map((line): NotedRefusal => JSON.parse(line));
  });
}

function fileNameOf(test: string): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(test).digest("hex");
}

function isHost([program = "", ...words]: readonly string[]): boolean {
  return /(^|\/)(tau|pi)$/.test(program) || words.some((word) => /\bbin\/tau\.js/.test(word));
}
