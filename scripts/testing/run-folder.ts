import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Files in memory, which need no look at a disk: a third of what tests of repositories cost. */
const MEMORY = "/dev/shm";
/** What a run leaves at most, and room for as much. */
const ENOUGH_BYTES = 4 * 1024 ** 3;
/** Holds the process id of the run that a folder belongs to. */
const OWNER = "owner";

/** A folder in which a run, and every process that it starts, keeps its temporary files. */
export class RunFolder {
  readonly path: string;
  #isKept = false;

  constructor() {
    // Short, for the sockets of tests: their paths may have 108 bytes at most.
    this.path = inMemory() ?? mkdtempSync(join(tmpdir(), "tau-"));
    // A database of tests that root runs has an account of its own.
    chmodSync(this.path, 0o711);
    for (const name of ["TMPDIR", "TEMP", "TMP"]) process.env[name] = this.path;
    // Also at the end of a run that somebody interrupts.
    process.once("exit", () => this.#remove());
  }

  /** Leaves it there after the run, for somebody to look at. */
  keep(): void {
    this.#isKept = true;
  }

  #remove(): void {
    if (this.#isKept) return;
    try {
      rmSync(this.path, { recursive: true, force: true });
    } catch {
      // A process that still runs writes to it; it says nothing of the tests.
    }
  }
}

/** A folder in memory that has room, and of which programs can be started; undefined without one. */
function inMemory(): string | undefined {
  if (process.platform !== "linux" || !existsSync(MEMORY)) return undefined;
  // A run within a test stays in the folder of the run around it.
  if (tmpdir().startsWith(`${MEMORY}/`)) return undefined;
  try {
    removeLeft();
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < ENOUGH_BYTES) return undefined;
    const folder = mkdtempSync(join(MEMORY, "tau-"));
    writeFileSync(join(folder, OWNER), String(process.pid));
    const program = join(folder, "program");
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
    const isExecutable = spawnSync(program).status === 0;
    rmSync(isExecutable ? program : folder, { recursive: true });
    return isExecutable ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Removes the folders of runs that were killed: they take memory. */
function removeLeft(): void {
  for (const name of readdirSync(MEMORY)) {
    const folder = join(MEMORY, name);
    const owner = name.startsWith("tau-") ? ownerOf(folder) : undefined;
    if (owner !== undefined && !isRunning(owner)) rmSync(folder, { recursive: true, force: true });
  }
}

function ownerOf(folder: string): number | undefined {
  try {
    return Number(readFileSync(join(folder, OWNER), "utf8")) || undefined;
  } catch {
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
