import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { within } from "../base/within.ts";
import { SandboxStartError } from "./process-error.ts";
import { type EnclosedCommand, type StartSigns, statusDescriptor } from "./sandbox.ts";

/** Longer than any status of a sandbox. */
const MAX_STATUS_LENGTH = 64 * 1024;
/** How long to wait for processes of a killed sandbox that may hold its descriptors open. */
const END_MS = 1_000;

type Started = Pick<Partial<EnclosedCommand>, "startSigns">;

/** The streams of a child beyond the standard ones, for `spawn`. */
export function statusPipe({ startSigns }: Started): readonly "pipe"[] {
  return startSigns === undefined ? [] : ["pipe"];
}

/** The status that the program around a command reports on a separate descriptor. */
export class StartStatus {
  readonly #signs: StartSigns;
  readonly #closed: Promise<void>;
  #text = "";

  /** Undefined for a command without such a status. */
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

  /** Waits for the end of the status, after the child has ended. */
  async end(): Promise<void> {
    await within(END_MS, this.#closed);
  }

  /** Whether this output may be the beginning of a sandbox error. */
  mayBeFailure(errors: Buffer): boolean {
    const { errorPrefix } = this.#signs;
    return errors.toString("utf8", 0, errorPrefix.length) === errorPrefix;
  }

  /**
   * Why the command never ran; undefined if it ran. Call {@link end} first.
   *
   * @param errors the output on stderr, from its beginning
   */
  failureOf(exitCode: number | null, errors: string): SandboxStartError | undefined {
    const reason = failedStart(this.#signs, { exitCode, said: this.#text, errors });
    return reason === undefined ? undefined : new SandboxStartError(reason);
  }
}

interface SandboxEnd {
  readonly exitCode: number | null;
  /** The text on {@link statusDescriptor}. */
  readonly said: string;
  /** The output on stderr, from its beginning. */
  readonly errors: string;
}

/**
 * Why a sandbox could not be set up; undefined if its command ran.
 *
 * The process that keeps commands runs this function from its source text, so it must not use anything outside itself.
 */
export function failedStart(
  { ranMark, errorPrefix, exitCode: failed }: StartSigns,
  { exitCode, said, errors }: SandboxEnd,
): string | undefined {
  if (exitCode !== failed || said.includes(ranMark)) return undefined;
  return errors.startsWith(errorPrefix) ? errors.slice(errorPrefix.length).trim() : undefined;
}
