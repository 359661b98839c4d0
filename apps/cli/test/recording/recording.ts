import type { WriteFileOptions } from "node:fs";
import { basename, join } from "node:path";

// The original functions, even if a test replaces the module.
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

/** The input, the output, and the lines written to session files. */
export type Channel = "stdin" | "stdout" | "sessions";

/** The owner of the frames in a recording. */
export interface RecordingOwner {
  /** File and name of the test. */
  readonly test: string;
  /** The arguments of the host. */
  readonly argv: readonly string[];
  /** The value of PI_RPC_PROTOCOL. */
  readonly protocol?: string | undefined;
}

/** The file that names the owner of a recording. */
export const OWNER_FILE = "owner.json";

/** The file that lists hosts that were started without a recorder. */
export const UNRECORDED_FILE = "unrecorded.jsonl";

/** A host that was started without a recorder. */
export interface UnrecordedHost {
  readonly test: string;
  readonly command: string;
}

/** The folder with the requests that vendors would refuse, one file per test. */
const REFUSALS_FOLDER = "refusals";

/** The module that every process of a test loads first. */
export const PRELOAD = "preload.mjs";

/**
 * The input and output of one process, byte for byte, in its own folder. Everything appended is passed to the
 * operating system at once, so that a `kill -9` loses nothing.
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
        // A test that limits file sizes also limits those of recordings.
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
      // Renamed last, so that a host killed meanwhile leaves no recording without an owner.
      this.#folder = join(this.#root, basename(folder).replace("begun-", "recording-"));
      renameSync(folder, this.#folder);
    }
    const name = `${channel}.${String(part).padStart(6, "0")}`;
    const opened = { part, descriptor: openSync(join(this.#folder, name), "a") };
    this.#open.set(channel, opened);
    return opened;
  }
}

/** Calls back for every complete line that this process writes to a session file. */
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
  // A file written in one call, by path, was prepared by a test and is not recorded.
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

/** Calls back for every host that this process starts without a recorder. */
export function watchSpawns(onUnrecorded: (command: string) => void): void {
  processes.spawn = function (this: unknown, options) {
    const { args = [], envPairs = [] } = options;
    const isRecorded = envPairs.some((pair) => /^NODE_OPTIONS=.*\/preload\.mjs\?/.test(pair));
    if (isHost(args) && !isRecorded) onUnrecorded(args.join(" "));
    return spawn.call(this, options);
  };
}

/** Makes the run fail for a host that is not recorded. */
export function noteUnrecorded(root: string, host: UnrecordedHost): void {
  appendFileSync(join(root, UNRECORDED_FILE), `${JSON.stringify(host)}\n`);
}

/** A request that a loopback server in any process refused. */
export interface NotedRefusal {
  readonly test: string;
  readonly refusal: unknown;
}

/** Makes a test fail for a refusal in a process that it started. */
export function noteRefusal(root: string, noted: NotedRefusal): void {
  mkdirSync(join(root, REFUSALS_FOLDER), { recursive: true });
  const path = join(root, REFUSALS_FOLDER, fileNameOf(noted.test));
  appendFileSync(path, `${JSON.stringify(noted)}\n`);
}

/** The refusals in processes of a test; without a test, those that no test has claimed. */
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
