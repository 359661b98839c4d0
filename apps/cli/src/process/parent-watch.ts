import { processStat } from "@tau-agent/system";

/** A flag of a Linux process that is exiting; set before its files are closed. */
const exiting = 0x4;

/** Detects that the parent process has ended or is about to. */
export class ParentWatch {
  readonly #pid = process.ppid;

  get isGone(): boolean {
    return process.ppid !== this.#pid || isEnding(this.#pid);
  }
}

function isEnding(pid: number): boolean {
  // If the system does not report it, a changed parent process id is the only sign.
  const [state = "", , , , , , flags = 0] = processStat(pid) ?? [];
  return /[ZX]/.test(state) || (Number(flags) & exiting) !== 0;
}
