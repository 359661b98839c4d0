import { readFileSync } from "node:fs";

/** A flag of a Linux process that is about to end; set before its files are closed. */
const exiting = 0x4;

/** Knows whether the process that started this one is gone, or just about to be. */
export class ParentWatch {
  readonly #pid = process.ppid;

  get isGone(): boolean {
    return process.ppid !== this.#pid || isEnding(this.#pid);
  }
}

function isEnding(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state = "", , , , , , flags] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return /[ZX]/.test(state) || (Number(flags) & exiting) !== 0;
  } catch {
    // Without such files, only its children's new parent tells.
    return false;
  }
}
