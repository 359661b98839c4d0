import { mismatch, type Step, type Transcript } from "./transcript.ts";

/** A host under test: lines in, frames out. */
export interface TestHost extends AsyncDisposable {
  send(line: string): void;
  /** The next frame; undefined when none comes in time. */
  next(): Promise<Record<string, unknown> | undefined>;
}

/** Events beyond the document, which a client of the document ignores. */
const additions: ReadonlySet<string> = new Set([
  "agent_settled",
  "prompt_result",
  "queue_update",
  "session_info_changed",
  "thinking_level_changed",
  "entry_appended",
]);

/** Plays a transcript against a host; throws at the first frame that is not the expected one. */
export async function runTranscript(transcript: Transcript, host: TestHost): Promise<void> {
  const frames = new Frames(host);
  for (const step of transcript.steps) {
    if (step.kind === "send") host.send(step.line);
    else if (step.repeat) await frames.skipAll(step);
    else await frames.expect(step, transcript.name);
  }
}

type Expected = Extract<Step, { kind: "expect" }>;

class Frames {
  readonly #host: TestHost;
  #held: Record<string, unknown> | undefined;

  constructor(host: TestHost) {
    this.#host = host;
  }

  async skipAll(step: Expected): Promise<void> {
    for (;;) {
      const frame = await this.#take();
      if (frame === undefined) return;
      if (mismatch(step.frame, frame) === undefined) continue;
      this.#held = frame;
      return;
    }
  }

  async expect(step: Expected, name: string): Promise<void> {
    for (;;) {
      const frame = await this.#take();
      const where = `${name} (line ${step.at})`;
      if (frame === undefined) throw new RangeError(`${where}: no frame came`);
      const problem = mismatch(step.frame, frame);
      if (problem === undefined) return;
      if (additions.has(String(frame.type))) continue;
      throw new RangeError(`${where}: ${problem}\ngot ${JSON.stringify(frame)}`);
    }
  }

  async #take(): Promise<Record<string, unknown> | undefined> {
    const held = this.#held;
    this.#held = undefined;
    return held ?? this.#host.next();
  }
}

/** Lines that have come and lines somebody waits for. */
export class FrameQueue {
  readonly #frames: Record<string, unknown>[] = [];
  #wake: (() => void) | undefined;

  push(line: string): void {
    this.#frames.push(JSON.parse(line));
    this.#wake?.();
  }

  async next(timeoutMs = 8_000): Promise<Record<string, unknown> | undefined> {
    if (this.#frames.length === 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, timeoutMs);
      await promise;
      clearTimeout(timer);
    }
    return this.#frames.shift();
  }
}
