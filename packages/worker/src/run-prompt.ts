import type { Frame, FrameStream } from "./frame-stream.ts";
import { Host, type HostStart } from "./host.ts";
import type { JobResult, PromptJob } from "./prompt-job.ts";
import { StartWatch } from "./start-watch.ts";

/** What came of one life of a prompt. */
export type Life =
  | { readonly kind: "result"; readonly result: JobResult }
  /** The host refused the prompt, or could not start. */
  | { readonly kind: "refused"; readonly reason: string }
  /** Another host has the session. */
  | { readonly kind: "locked"; readonly reason: string }
  /** The host ended before the prompt did. */
  | { readonly kind: "ended"; readonly reason: string };

/** What a host says when its store was away for too long. */
const storeFailed = /Could not write the session to /;

/** Where a {@link PromptRun} tells what happens. */
export interface PromptRunReports {
  readonly events: FrameStream;
  /** Called with each entry. */
  readonly onEntry: () => void;
  /** Called once the host has the session. */
  readonly onOpen: () => void;
  /** Takes a line for the operator. */
  readonly report: (line: string) => void;
}

/** A prompt in a host of its own. */
export class PromptRun {
  readonly #job: PromptJob;
  readonly #promptId: string;
  readonly #events: FrameStream;
  readonly #host: Host;
  readonly #onEntry: () => void;
  readonly #onOpen: () => void;
  readonly #start: StartWatch;
  readonly #life = Promise.withResolvers<Life>();
  #outcome: Frame | undefined;
  /** What its host says of the prompt's end does not count any more. */
  #isLeft = false;

  constructor(
    { job, promptId }: { readonly job: PromptJob; readonly promptId: string },
    start: Omit<HostStart, "onFrame">,
    { events, onEntry, onOpen, report }: PromptRunReports,
  ) {
    this.#job = job;
    this.#promptId = promptId;
    this.#events = events;
    this.#onEntry = onEntry;
    this.#onOpen = onOpen;
    this.#start = new StartWatch({
      report,
      onLate: (reason) => this.#life.resolve({ kind: "ended", reason }),
    });
    this.#host = new Host({ ...start, onFrame: (frame) => this.#take(frame) });
    void this.#host.ended.then(() => {
      this.#start.end();
      this.#life.resolve(this.#ended());
    });
    const capabilities = { hostRequests: true };
    const id = "tau-worker:initialize";
    this.#host.send({ type: "initialize", id, stream: "delta", capabilities });
    const { message, images, outputSchema } = job;
    const own = { promptId, message, images, outputSchema, resume: true };
    this.#host.send({ type: "prompt", id: "tau-worker:prompt", ...own });
  }

  /** Fulfilled when the prompt, or its host, has ended. */
  get life(): Promise<Life> {
    return this.#life.promise;
  }

  /** Hands a command or an answer to the host. */
  send(frame: Frame): void {
    this.#host.send(frame);
  }

  /** Ends the host; the prompt is left as it is. */
  async end(): Promise<void> {
    this.#isLeft = true;
    this.#start.end();
    await this.#host.end();
  }

  #take(frame: Frame): void {
    const { type, id } = frame;
    if (typeof id === "string" && id.startsWith("tau-worker:") && type === "response") {
      this.#answered(frame);
      return;
    }
    if (type === "prompt_result" && frame.promptId === this.#promptId) {
      if (this.#isLeft) return;
      if (frame.status === "error" && storeFailed.test(String(frame.error))) {
        // The prompt is not over: its next host goes on with what the store has.
        this.#isLeft = true;
        this.#life.resolve({ kind: "ended", reason: String(frame.error) });
        return;
      }
      this.#outcome = frame;
      this.#askForText();
      return;
    }
    if (type === "session_lost") {
      this.#isLeft = true;
      this.#life.resolve({ kind: "ended", reason: "another host has taken the session over" });
    }
    if (type === "message_end") this.#onEntry();
    this.#start.take(frame);
    this.#events.add(frame);
  }

  #answered({ id, success, error, code, data }: Frame): void {
    if (id === "tau-worker:initialize") {
      this.#start.opened();
      this.#onOpen();
      return;
    }
    if (id === "tau-worker:text") {
      this.#finish((data as { readonly text?: string | null } | undefined)?.text ?? "");
      return;
    }
    if (id !== "tau-worker:prompt") return;
    this.#start.end();
    // Of a prompt that ended in an earlier life, its result is announced, too.
    if (success !== true) {
      const isLost = code === "session_lost" || code === "session_write_failed";
      const kind = isLost ? "ended" : "refused";
      this.#life.resolve({ kind, reason: String(error) });
      return;
    }
  }

  #askForText(): void {
    this.#host.send({ type: "get_last_assistant_text", id: "tau-worker:text" });
  }

  #finish(text: string): void {
    const outcome = this.#outcome ?? {};
    void this.#announce(outcome).then(
      () => {
        const { status, error, code, output } = outcome;
        this.#life.resolve({
          kind: "result",
          result: {
            status: String(status),
            text: typeof outcome.text === "string" ? outcome.text : text,
            sessionId: this.#job.sessionId,
            ...(typeof error === "string" ? { error } : {}),
            ...(typeof code === "string" ? { code } : {}),
            ...(output === undefined ? {} : { output }),
          },
        });
      },
      (reason: unknown) => this.#life.resolve({ kind: "ended", reason: String(reason) }),
    );
  }

  /** Once, over all lives: an earlier one may have died between this and the end of the job. */
  async #announce(outcome: Frame): Promise<void> {
    if (await this.#events.hasResult(this.#promptId)) return;
    const { id: _, ...frame } = outcome;
    this.#events.add(frame);
    await this.#events.flushed();
  }

  #ended(): Life {
    const reason = this.#host.complaint;
    if (/is in use by process/.test(reason)) return { kind: "locked", reason };
    const isRefused = /^tau: error:/m.test(reason) && !storeFailed.test(reason);
    return isRefused ? { kind: "refused", reason } : { kind: "ended", reason };
  }
}
