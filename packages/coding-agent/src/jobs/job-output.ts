import { isWorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { incompleteCharacterBytes, type OutputMask, type OutputStream } from "@tau-agent/system";
import type { JobPlace } from "./job-folders.ts";

export interface JobOutputOptions {
  readonly mask?: OutputMask | undefined;
  /** The most bytes to keep; default 16 MiB. */
  readonly maxBytes?: number | undefined;
  /** How long to collect output before writing it. */
  readonly pauseMs?: number | undefined;
}

/** How many bytes of output the report of a job's end shows. */
export const tailBytes = 2_000;
/** The command is paused while more bytes than this wait to be written. */
const maxWaitingBytes = 1024 * 1024;

/**
 * The output of a job whose command this host runs. It is split into files of 1/64 of the limit, named by the position
 * of their first byte. The newest is rewritten as it grows, and the oldest is removed. A full disk loses output, but
 * never the job.
 */
export class JobOutput {
  readonly #place: Pick<JobPlace, "workspace" | "path">;
  readonly #folder: string;
  readonly #mask: OutputMask | undefined;
  readonly #partBytes: number;
  readonly #pauseMs: number;
  readonly #held = new Map<OutputStream, Buffer>();
  readonly #parts: string[] = [];
  /** The content of the newest file. */
  #part: Buffer = Buffer.alloc(0);
  #position = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #wake: () => void = () => {};
  #hasEnded = false;
  #tail: Buffer = Buffer.alloc(0);

  constructor(
    place: Pick<JobPlace, "workspace" | "path">,
    folder: string,
    { mask, maxBytes = 16 * 1024 * 1024, pauseMs = 100 }: JobOutputOptions,
  ) {
    this.#place = place;
    this.#folder = folder;
    this.#mask = mask;
    this.#partBytes = Math.floor(maxBytes / 64);
    this.#pauseMs = pauseMs;
  }

  /** The end of the output, available even if it cannot be written. */
  get tail(): string {
    const [first = 0] = this.#tail;
    const skipped = this.#tail.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
    return (first & 0xc0) === 0x80 ? this.#tail.toString("utf8", skipped) : this.#tail.toString();
  }

  /** Whether there was any output here: that of a kept command is written where the command runs. */
  get isUsed(): boolean {
    return this.#position > 0 || this.#waitingBytes > 0 || this.#part.length > 0;
  }

  /** Takes ownership of a chunk; a returned promise asks the caller to wait. Never fails. */
  add(chunk: Buffer, stream: OutputStream): Promise<void> | undefined {
    const before = this.#held.get(stream);
    const bytes = before === undefined ? chunk : Buffer.concat([before, chunk]);
    const end = bytes.length - incompleteCharacterBytes(bytes);
    if (end === bytes.length) this.#held.delete(stream);
    else this.#held.set(stream, Buffer.from(bytes.subarray(end)));
    const whole = bytes.subarray(0, end);
    this.#take(this.#mask?.push(whole) ?? whole);
    return this.#waitingBytes > maxWaitingBytes ? this.#writing : undefined;
  }

  /** Resolves once everything is written or lost. */
  async end(): Promise<void> {
    for (const rest of this.#held.values()) this.#take(this.#mask?.push(rest) ?? rest);
    this.#held.clear();
    if (this.#mask !== undefined) this.#take(this.#mask.end());
    this.#hasEnded = true;
    this.#wake();
    await this.#writing;
  }

  #take(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#tail = Buffer.concat([this.#tail, bytes.subarray(-tailBytes)]).subarray(-tailBytes);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes >= this.#partBytes) this.#wake();
    this.#writing ??= this.#write();
  }

  async #write(): Promise<void> {
    while (this.#waitingBytes > 0) {
      const bytes = Buffer.concat(this.#waiting);
      this.#waiting = [];
      this.#waitingBytes = 0;
      for (let at = 0; at < bytes.length; ) {
        const room = this.#partBytes - this.#part.length;
        await this.#writePart(bytes.subarray(at, at + room));
        at += room;
      }
      if (!this.#hasEnded && this.#waitingBytes < this.#partBytes) await this.#pause();
    }
    this.#writing = undefined;
  }

  /** Appends to the newest file. */
  async #writePart(more: Buffer): Promise<void> {
    const { workspace, path } = this.#place;
    const part = Buffer.concat([this.#part, more]);
    const file = path.join(this.#folder, `output-${this.#position}`);
    const write = () => workspace.write(file, part, { mode: 0o600 });
    try {
      if (this.#part.length === 0 && this.#parts.push(file) > 63) {
        await workspace.remove(this.#parts.shift() ?? "").catch(() => {});
      }
      await write().catch((error) => {
        if (!isWorkspaceError(error, "lost")) throw error;
        return write();
      });
      this.#part = part;
      if (part.length < this.#partBytes) return;
    } catch {
      // Output that cannot be written is lost; the next file begins after it.
    }
    this.#part = Buffer.alloc(0);
    this.#position += part.length;
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#pauseMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
