import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { isDocumentedEvent } from "../frames/document-events.ts";
import { documentedProblem, order } from "../frames/documented.ts";
import type { Frame } from "../frames/frame-queue.ts";
import { IdCheck } from "../frames/id-check.ts";
import { Incoming, isAboutResponse } from "../frames/incoming.ts";
import { fillIn, keep, mismatch, type Pattern } from "../frames/pattern.ts";
import type { Step, Transcript } from "./transcript.ts";

/** A host under test: lines in, frames out. */
export interface TestHost extends AsyncDisposable {
  readonly folder: string;
  send(line: string): void;
  /** The next frame; undefined if none comes in time. */
  next(): Promise<Frame | undefined>;
}

export interface PlayOptions {
  /**
   * Whether the host may choose what the document leaves open: additional members and events, the wording of errors,
   * and how responses and events interleave. Default false.
   */
  readonly isTolerant?: boolean | undefined;
  /** Receives each frame that differs from its documented shape; without it, the first such frame is an error. */
  readonly onShapeProblem?: ((problem: string, frame: Frame) => void) | undefined;
  /** How long to wait for one line while other frames come, in ms. Default: no limit. */
  readonly patienceMs?: number | undefined;
}

/** Where a host deviated from its transcript. */
export class Deviation extends Error {
  override readonly name = "Deviation";
  readonly line: number;
  readonly problem: string;
  readonly expected: Pattern;
  /** The frame that came; undefined if none did. */
  readonly got: Frame | undefined;

  constructor(transcript: Transcript, step: Expected, problem: string, got: Frame | undefined) {
    const came = got === undefined ? "" : `\ngot ${JSON.stringify(got)}`;
    super(`${transcript.name} (line ${step.at}): ${problem}${came}`);
    this.line = step.at;
    this.problem = problem;
    this.expected = step.frame;
    this.got = got;
  }
}

/** Events that the document does not name, so that its clients ignore them. */
const additions: ReadonlySet<string> = new Set([
  "ready",
  "agent_settled",
  "prompt_result",
  "queue_update",
  "session_info_changed",
  "thinking_level_changed",
  "entry_appended",
  "compaction_start",
  "compaction_end",
  "diagnostic",
  "subagent_event",
]);

/**
 * Plays a transcript against a host.
 *
 * @returns every frame that arrived
 * @throws {Deviation} at the first frame that is not the expected one
 * @throws {RangeError} at the first frame whose shape is not the documented one, unless shapes are reported
 */
export async function playTranscript(
  transcript: Transcript,
  host: TestHost,
  options: PlayOptions = {},
): Promise<Frame[]> {
  const play = new Play(transcript, host, options);
  for (const step of transcript.steps) {
    if (step.kind === "part") continue;
    if (step.kind === "send") play.send(step.line);
    else if (step.count === "any") await play.skipAll(step);
    else await play.expect(step);
  }
  return play.seen;
}

type Expected = Extract<Step, { kind: "expect" }>;

class Play {
  readonly seen: Frame[] = [];
  readonly #host: TestHost;
  readonly #transcript: Transcript;
  readonly #options: PlayOptions;
  readonly #kept: Map<string, string>;
  readonly #incoming: Incoming;
  readonly #ids = new IdCheck();
  #dialect: string;
  #isInitialized = false;
  /** When the wait for the current line ends. */
  #deadlineMs = Number.POSITIVE_INFINITY;

  constructor(transcript: Transcript, host: TestHost, options: PlayOptions) {
    this.#host = host;
    this.#transcript = transcript;
    this.#options = options;
    this.#dialect = transcript.environment?.PI_RPC_PROTOCOL ?? transcript.dialect;
    this.#kept = new Map([["folder", host.folder]]);
    this.#incoming = new Incoming(() => this.#next(), options.isTolerant === true);
  }

  send(line: string): void {
    const filled = String(fillIn(line, this.#kept));
    this.#ids.sent(filled);
    this.#host.send(filled);
  }

  async skipAll(step: Expected): Promise<void> {
    this.#beginWait();
    for (;;) {
      const frame = await this.#incoming.take(step.frame);
      if (frame === undefined) return;
      if (this.#isPassedOver(frame) || this.#mismatch(step.frame, frame) === undefined) continue;
      this.#incoming.putBack(frame);
      return;
    }
  }

  async expect(step: Expected): Promise<void> {
    const pattern = fillIn(step.frame, this.#kept);
    this.#beginWait();
    let nearest: { frame: Frame; problem: string } | undefined;
    let last: Frame | undefined;
    for (;;) {
      const frame = await this.#incoming.take(pattern);
      if (frame === undefined) break;
      last = frame;
      const problem = this.#mismatch(pattern, frame);
      if (problem === undefined) return keep(pattern, frame, this.#kept);
      if (isAlike(pattern, frame)) nearest = { frame, problem };
      if (step.count === "until" || this.#isPassedOver(frame)) continue;
      throw new Deviation(this.#transcript, step, problem, frame);
    }
    throw this.#silence(step, nearest, last);
  }

  /** The deviation to report when no matching frame came, with the frame that came closest. */
  #silence(
    step: Expected,
    nearest: { frame: Frame; problem: string } | undefined,
    last: Frame | undefined,
  ): Deviation {
    const deviation = (problem: string, got?: Frame) =>
      new Deviation(this.#transcript, step, problem, got);
    if (nearest !== undefined) {
      return deviation(`none came that fits: ${nearest.problem}`, nearest.frame);
    }
    const answer = isAboutResponse(step.frame) ? this.#incoming.unclaimed() : undefined;
    if (answer !== undefined) return deviation("an answer came, but under another name", answer);
    if (last === undefined) return deviation("no frame came");
    return deviation(`no frame of this kind came; the last was ${last.type}`);
  }

  /** A transcript may omit the members that `initialize` adds to every event. */
  #mismatch(pattern: Pattern, frame: Frame): string | undefined {
    const isOrdered = this.#isInitialized && frame.type !== "response" && isJsonObject(pattern);
    return mismatch(isOrdered ? { ...order, ...pattern } : pattern, frame, {
      path: "frame",
      isTolerant: this.#options.isTolerant === true,
    });
  }

  #isPassedOver(frame: Frame): boolean {
    if (!this.#options.isTolerant) return additions.has(String(frame.type));
    return frame.type !== "response" && !isDocumentedEvent(this.#dialect, frame);
  }

  /** A frame in the form of a host with one session, which is the form that the documents describe. */
  #single(frame: Frame): Frame {
    const isMany = this.#transcript.arguments?.includes("--sessions") === true;
    return isMany ? withoutHandle(frame) : frame;
  }

  #beginWait(): void {
    this.#deadlineMs = performance.now() + (this.#options.patienceMs ?? Number.POSITIVE_INFINITY);
  }

  async #next(): Promise<Frame | undefined> {
    if (performance.now() > this.#deadlineMs) return undefined;
    const frame = await this.#host.next();
    if (frame === undefined) return undefined;
    this.#look(frame);
    return frame;
  }

  /** Ids follow the same rule in every dialect; shapes are checked only in `pi`. */
  #look(frame: Frame): void {
    const { isTolerant, onShapeProblem } = this.#options;
    if (frame.command === "initialize" && frame.success === true) {
      this.#isInitialized = true;
      this.#dialect = (frame.data as { protocol: string }).protocol;
    }
    const isInitialized = this.#isInitialized;
    let problem = this.#ids.problem(this.#dialect, frame);
    if (this.#dialect === "pi") {
      this.seen.push(frame);
      problem ??= documentedProblem(this.#single(frame), { isInitialized, isTolerant });
    }
    if (problem === undefined) return;
    if (onShapeProblem === undefined) {
      throw new RangeError(`${this.#transcript.name}: ${problem}\ngot ${JSON.stringify(frame)}`);
    }
    onShapeProblem(problem, frame);
  }
}

/** Removes the members that only a host with many sessions adds. */
function withoutHandle(frame: Frame): Frame {
  const { sessionId: _, seq: __, promptId: ___, ...own } = frame;
  if (frame.success !== false) return own;
  const { code: ____, ...error } = own;
  return error;
}

function isAlike(pattern: Pattern, frame: Frame): boolean {
  if (!isJsonObject(pattern)) return false;
  const { type, command } = pattern;
  return (
    (type === undefined || type === frame.type) &&
    (command === undefined || command === frame.command)
  );
}
