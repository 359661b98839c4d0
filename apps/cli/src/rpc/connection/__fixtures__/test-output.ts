import type { FrameOutput } from "../../../process/output.ts";

/** An output whose reader can be slow or disconnect. */
export class TestOutput implements FrameOutput {
  readonly writes: string[] = [];
  /** The result of the next `write`. */
  accepts = true;
  #onDrain: (() => void)[] = [];
  #onClosed: (() => void)[] = [];

  get text(): string {
    return this.writes.join("");
  }

  write(piece: string | Uint8Array, onWritten?: () => void): boolean {
    const text = typeof piece === "string" ? piece : Buffer.from(piece).toString();
    if (text !== "") this.writes.push(text);
    if (onWritten !== undefined) setImmediate(onWritten);
    return this.accepts;
  }

  onDrain(listener: () => void): void {
    this.#onDrain.push(listener);
  }

  onClosed(listener: () => void): void {
    this.#onClosed.push(listener);
  }

  drain(): void {
    this.accepts = true;
    for (const listener of this.#onDrain.splice(0)) listener();
  }

  close(): void {
    for (const listener of this.#onClosed) listener();
  }
}

/** Waits for one turn of the event loop, in which queued data is written. */
export const turnOfLoop = () => new Promise<void>((resolve) => setImmediate(resolve));
