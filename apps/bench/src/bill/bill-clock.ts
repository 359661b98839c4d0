import { closeSync, openSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Environment } from "../child.ts";

/** So much passes in a step of so many real milliseconds: slowly enough for a host to act in between. */
const STEP = { ms: 2_000, realMs: 5 };

/** The clock of a billing server and of the host that asks it; minutes pass on it that nobody waits for. */
export class BillClock implements Disposable {
  readonly #file: number;
  readonly #path: string;
  #ahead = 0;

  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, "w");
    this.#write();
  }

  readonly now = (): number => Date.now() + this.#ahead;

  /** What a host needs to see this clock. */
  get env(): Environment {
    const script = fileURLToPath(new URL("host-clock.mjs", import.meta.url));
    return { TAU_BENCH_CLOCK: this.#path, NODE_OPTIONS: `--import=${script}` };
  }

  /** Lets minutes pass. */
  async pass(minutes: number): Promise<void> {
    for (const end = this.#ahead + minutes * 60_000; this.#ahead < end; ) {
      this.#ahead = Math.min(end, this.#ahead + STEP.ms);
      this.#write();
      await sleep(STEP.realMs);
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  #write(): void {
    writeSync(this.#file, String(this.#ahead).padEnd(16), 0);
  }
}
