import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { within } from "../base/within.ts";
import { SandboxStartError } from "./process-error.ts";
import { type EnclosedCommand, type StartSigns, statusDescriptor } from "./sandbox.ts";

/** More than a sandbox has to say. */
const MAX_STATUS_LENGTH = 64 * 1024;
/** For what a killed sandbox may leave, with its descriptors open. */
const END_MS = 1_000;

type Started = Pick<Partial<EnclosedCommand>, "startSigns">;

/** The streams of a child above the standard ones, for `spawn`. */
export function statusPipe({ startSigns }: Started): readonly "pipe"[] {
  return startSigns === undefined ? [] : ["pipe"];
}

/** What the program around a command says of it on a descriptor of its own. */
export class StartStatus {
  readonly #signs: StartSigns;
  readonly #closed: Promise<void>;
  #text = "";

  /** Undefined for a command of which nothing is said. */
  static of(child: Pick<ChildProcess, "stdio">, { startSigns }: Started): StartStatus | undefined {
    if (startSigns === undefined) return undefined;
    return new StartStatus(startSigns, child.stdio[statusDescriptor] as Readable);
  }

  private constructor(signs: StartSigns, status: Readable) {
    this.#signs = signs;
    status.on("error", () => {});
    status.on("data", (chunk: Buffer) => {
      if (this.#text.length < MAX_STATUS_LENGTH) this.#text += chunk.toString();
    });
    this.#closed = new Promise((resolve) => status.once("close", resolve));
  }

  /** Waits for the end of what is said, after that of the child. */
  async end(): Promise<void> {
    await within(END_MS, this.#closed);
  }

  /** Whether this may be the beginning of an error of the sandbox. */
  mayBeFailure(errors: Buffer): boolean {
    const { errorPrefix } = this.#signs;
    return errors.toString("utf8", 0, errorPrefix.length) === errorPrefix;
  }

  /**
   * Why the command never ran; undefined if it did. To be asked after {@link end}.
   *
   * @param errors what was written to stderr, from its beginning
   */
  failureOf(exitCode: number | null, errors: string): SandboxStartError | undefined {
    const reason = failedStart(this.#signs, { exitCode, said: this.#text, errors });
    return reason === undefined ? undefined : new SandboxStartError(reason);
  }
}

interface SandboxEnd {
  readonly exitCode: number | null;
  /** What was written to {@link statusDescriptor}. */
  readonly said: string;
  /** What was written to stderr, from its beginning. */
  readonly errors: string;
}

/**
 * Why a sandbox was not set up; undefined if its command ran.
 *
 * Also runs from its own source text, in the process that keeps commands: nothing outside of this function
 * may be used in it.
 */
export function failedStart(
  { ranMark, errorPrefix, exitCode: failed }: StartSigns,
  { exitCode, said, errors }: SandboxEnd,
): string | undefined {
  if (exitCode !== failed || said.includes(ranMark)) return undefined;
  return errors.startsWith(errorPrefix) ? errors.slice(errorPrefix.length).trim() : undefined;
}
