import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Files in memory, which need no look at a disk: a third of what tests of repositories cost. */
const MEMORY = "/dev/shm";
/** What a run leaves at most, and room for as much. */
const ENOUGH_BYTES = 4 * 1024 ** 3;

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
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < ENOUGH_BYTES) return undefined;
    const folder = mkdtempSync(join(MEMORY, "tau-"));
    const program = join(folder, "program");
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
    const isExecutable = spawnSync(program).status === 0;
    rmSync(isExecutable ? program : folder, { recursive: true });
    return isExecutable ? folder : undefined;
  } catch {
    return undefined;
  }
}
