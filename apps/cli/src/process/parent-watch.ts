import { processStat } from "@tau-agent/system";

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
  // Where the system does not say it, only its children's new parent tells.
  const [state = "", , , , , , flags = 0] = processStat(pid) ?? [];
  return /[ZX]/.test(state) || (Number(flags) & exiting) !== 0;
}
