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

/** Files in memory need no disk access, which is a third of the cost of tests with repositories. */
const MEMORY = "/dev/shm";
/** The maximum that a run leaves behind, with a reserve of the same size. */
const ENOUGH_BYTES = 4 * 1024 ** 3;
/** The file with the process id of the run that owns a folder. */
const OWNER = "owner";

/** A folder in which a run, and every process it starts, keeps its temporary files. */
export class RunFolder {
  readonly path: string;
  #isKept = false;

  constructor() {
    // A short path, because the socket paths of tests may have at most 108 bytes.
    this.path = inMemory() ?? mkdtempSync(join(tmpdir(), "tau-"));
    // If root runs the tests, their database uses a separate account, which needs access.
    chmodSync(this.path, 0o711);
    for (const name of ["TMPDIR", "TEMP", "TMP"]) process.env[name] = this.path;
    // Also runs when a run is interrupted.
    process.once("exit", () => this.#remove());
  }

  /** Keeps the folder after the run for inspection. */
  keep(): void {
    this.#isKept = true;
  }

  #remove(): void {
    if (this.#isKept) return;
    try {
      rmSync(this.path, { recursive: true, force: true });
    } catch {
      // A process that is still running writes to the folder; that does not affect the result of the tests.
    }
  }
}

/** A folder in memory with enough space that allows executing programs; undefined if there is none. */
function inMemory(): string | undefined {
  if (process.platform !== "linux" || !existsSync(MEMORY)) return undefined;
  // A run inside a test uses the folder of the outer run.
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

/** Removes the folders of killed runs, because they take up memory. */
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
