import { documentedProblem } from "./documented.ts";
import type { Place } from "./place.ts";
import { SchemaCheck } from "./schema-check.ts";
import { fillIn, keep, mismatch, type Step, type Transcript } from "./transcript.ts";

/** A host under test: lines in, frames out. */
export interface TestHost extends AsyncDisposable {
  /** Where its folders are. */
  readonly folder: string;
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
  "compaction_start",
  "compaction_end",
]);

/**
 * Plays a transcript against a host; throws at the first frame that is not the expected one, or not
 * of its documented shape.
 *
 * @returns every frame that came
 */
export async function runTranscript(
  transcript: Transcript,
  host: TestHost,
): Promise<Record<string, unknown>[]> {
  const frames = new Frames(host, transcript);
  for (const step of transcript.steps) {
    if (step.kind === "send") frames.send(step.line);
    else if (step.count === "any") await frames.skipAll(step);
    else await frames.expect(step);
  }
  return frames.seen;
}

type Expected = Extract<Step, { kind: "expect" }>;

class Frames {
  readonly seen: Record<string, unknown>[] = [];
  readonly #host: TestHost;
  readonly #name: string;
  readonly #kept: Map<string, string>;
  /** Only `pi` speaks in the shapes of its document. */
  #isPi: boolean;
  #isInitialized = false;
  #held: Record<string, unknown> | undefined;

  constructor(host: TestHost, { name, arguments: given = [], environment }: Transcript) {
    this.#host = host;
    this.#name = name;
    this.#isPi = !given.includes("--protocol") && environment?.PI_RPC_PROTOCOL === undefined;
    this.#kept = new Map([["folder", host.folder]]);
  }

  send(line: string): void {
    this.#host.send(String(fillIn(line, this.#kept)));
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

  async expect(step: Expected): Promise<void> {
    const where = `${this.#name} (line ${step.at})`;
    const pattern = fillIn(step.frame, this.#kept);
    let last = "";
    for (;;) {
      const frame = await this.#take();
      if (frame === undefined) throw new RangeError(`${where}: no frame came${last}`);
      const problem = mismatch(pattern, frame);
      if (problem === undefined) return keep(pattern, frame, this.#kept);
      last = `; the last was ${JSON.stringify(frame)}: ${problem}`;
      if (step.count === "until" || additions.has(String(frame.type))) continue;
      throw new RangeError(`${where}: ${problem}\ngot ${JSON.stringify(frame)}`);
    }
  }

  async #take(): Promise<Record<string, unknown> | undefined> {
    const held = this.#held;
    this.#held = undefined;
    return held ?? this.#next();
  }

  async #next(): Promise<Record<string, unknown> | undefined> {
    const frame = await this.#host.next();
    if (frame === undefined) return undefined;
    if (frame.command === "initialize" && frame.success === true) {
      this.#isInitialized = true;
      this.#isPi = (frame.data as { protocol: string }).protocol === "pi";
    }
    if (!this.#isPi) return frame;
    const problem = documentedProblem(frame, { isInitialized: this.#isInitialized });
    if (problem !== undefined) {
      throw new RangeError(`${this.#name}: ${problem}\ngot ${JSON.stringify(frame)}`);
    }
    this.seen.push(frame);
    return frame;
  }
}

/** Lines that have come and lines somebody waits for. */
export class FrameQueue {
  readonly #frames: Record<string, unknown>[] = [];
  readonly #check: SchemaCheck;
  #violation: string | undefined;
  #wake: (() => void) | undefined;

  /** Every frame is held against the published schema; one that it does not allow ends the test. */
  constructor(place: Pick<Place, "arguments" | "variables">) {
    this.#check = new SchemaCheck(place);
  }

  push(line: string): void {
    const frame = JSON.parse(line);
    this.#violation ??= this.#check.violation(frame);
    this.#frames.push(frame);
    this.#wake?.();
  }

  async next(timeoutMs = 8_000): Promise<Record<string, unknown> | undefined> {
    if (this.#violation !== undefined) throw new RangeError(this.#violation);
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
