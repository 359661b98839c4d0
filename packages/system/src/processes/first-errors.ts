import { setImmediate, setTimeout } from "node:timers/promises";
import type { OutputSink } from "./output-pump.ts";
import type { SandboxStartError } from "./process-error.ts";
import type { StartStatus } from "./start-status.ts";

/** A sandbox that cannot be set up reports it and ends immediately; a process that runs longer is the command. */
const HOLD_MS = 1_000;

/** Keeps the error of a sandbox that could not be set up out of the command's output. */
export class FirstErrors {
  readonly #status: StartStatus;
  readonly #decided = Promise.withResolvers<void>();
  readonly #kept: Buffer[] = [];
  #exitCode: number | null = null;
  #isFirst = true;
  #hasEnded = false;
  /** Fulfilled when the held output has been passed on or dropped. */
  #held: Promise<void> | undefined;

  constructor(status: StartStatus) {
    this.#status = status;
  }

  /** Passes on the command's output, each stream in order. */
  hold(sink: OutputSink): OutputSink {
    return (chunk, stream) => {
      if (stream === "stderr") {
        if (this.#isFirst && this.#status.mayBeFailure(chunk)) this.#held = this.#pass(sink);
        if (this.#held !== undefined) {
          // More may arrive although the stream is held back: Node reads all of it once the child has ended.
          this.#kept.push(chunk);
          this.#isFirst = false;
          return this.#held;
        }
      }
      this.#isFirst = false;
      return sink(chunk, stream);
    };
  }

  async end(exitCode: number | null): Promise<void> {
    this.#hasEnded = true;
    this.#exitCode = exitCode;
    await this.#status.end();
    this.#decided.resolve();
  }

  /** Why the command never ran. Valid after its end, once all output has been read. */
  get failure(): SandboxStartError | undefined {
    return this.#status.failureOf(this.#exitCode, Buffer.concat(this.#kept).toString());
  }

  async #pass(sink: OutputSink): Promise<void> {
    await Promise.race([this.#decided.promise, afterHold()]);
    // The command may have ended at the same moment.
    if (this.#hasEnded) await this.#decided.promise;
    if (this.failure !== undefined) return;
    for (let chunk = this.#kept.shift(); chunk !== undefined; chunk = this.#kept.shift()) {
      await sink(chunk, "stderr");
    }
    this.#held = undefined;
  }
}

async function afterHold(): Promise<void> {
  await setTimeout(HOLD_MS, undefined, { ref: false });
  // A timer may fire before the end of a child is seen; one turn of the event loop rules that out.
  await setImmediate();
}
