import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Environment } from "../child.ts";

/** The size of one jump: less than the time that hosts leave between renewing a cache and its expiry. */
const STEP_MS = 5_000;
/** How much real time a host gets to send a request that has become due. */
const ACT_MS = 250;
const PATIENCE_MS = 10_000;

/** The simulated clock of a billing server and its host. Minutes pass on it without waiting. */
export class BillClock implements Disposable {
  readonly #path: string;
  readonly #file: number;
  #ahead = 0;

  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, "w");
    this.#write();
    writeFileSync(this.#seenPath, "");
  }

  readonly now = (): number => Date.now() + this.#ahead;

  /** The variables that make a host use this clock. */
  get env(): Environment {
    const script = fileURLToPath(new URL("host-clock.mjs", import.meta.url));
    return {
      TAU_BENCH_CLOCK: this.#path,
      TAU_BENCH_PID: String(process.pid),
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --import=${script}`,
    };
  }

  /** Advances the clock step by step; in each step, the host performs what it has scheduled. */
  async pass(minutes: number): Promise<void> {
    let { fired } = this.#seen();
    for (const end = this.#ahead + minutes * 60_000; this.#ahead < end; ) {
      this.#ahead = Math.min(end, this.#ahead + STEP_MS);
      this.#write();
      const seen = await this.#untilSeen();
      if (seen > fired) await sleep(ACT_MS);
      fired = seen;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  async #untilSeen(): Promise<number> {
    for (const start = Date.now(); Date.now() < start + PATIENCE_MS; await sleep(1)) {
      const { ahead, fired } = this.#seen();
      if (ahead === this.#ahead) return fired;
    }
    throw new Error("The host does not look at the clock");
  }

  #seen(): { readonly ahead: number; readonly fired: number } {
    const [ahead = 0, fired = 0] = readFileSync(this.#seenPath, "utf8").split(" ").map(Number);
    return { ahead, fired };
  }

  get #seenPath(): string {
    return `${this.#path}.seen`;
  }

  #write(): void {
    writeSync(this.#file, String(this.#ahead).padEnd(16), 0);
  }
}
