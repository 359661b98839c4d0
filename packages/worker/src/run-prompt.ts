import { createRequire } from "node:module";
import { type HostExit, HostProcess } from "@tau-agent/rpc-client";
import { encodeLine, parseObject } from "@tau-agent/rpc-protocol/plain";
import type { Frame, FrameStream } from "./frame-stream.ts";
import type { JobResult, PromptJob } from "./prompt-job.ts";
import { StartWatch } from "./start-watch.ts";

export type Life =
  | { readonly kind: "result"; readonly result: JobResult }
  /** The host refused the prompt, or its session is damaged. */
  | { readonly kind: "refused"; readonly reason: string }
  /** Another host has the session. */
  | { readonly kind: "locked"; readonly reason: string }
  /** The host ended before the prompt did. */
  | { readonly kind: "ended"; readonly reason: string };

/** Error codes of a prompt that is not over: the next host continues from the entries in the store. */
const unstored: ReadonlySet<unknown> = new Set(["session_lost", "session_write_failed"]);

/** Exit codes of a host that could not start because of its session. */
const SESSION_HELD = 3;
const SESSION_DAMAGED = 4;

/** How long a host may take to exit when asked to. */
const END_MS = 8_000;
/** How many characters of a host's stderr are reported as the reason for its end. */
const REASON_CHARACTERS = 4_000;
/** How many heartbeats are sent within the time that a host waits for one. */
const BEATS = 3;

interface HostStart {
  readonly cwd: string;
  readonly words: readonly string[];
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** How long the host continues without a heartbeat from this process. */
  readonly silenceMs: number;
}

export interface PromptRunReports {
  readonly events: FrameStream;
  readonly onEntry: () => void;
  /** Called once the host has the session. */
  readonly onOpen: () => void;
  readonly report: (line: string) => void;
}

/**
 * A prompt in its own host. The host ends with this process, because its stdin closes. It also ends when this process
 * is paused, because the blank lines stop: otherwise it would keep the session from the next worker.
 */
export class PromptRun {
  readonly #job: PromptJob;
  readonly #promptId: string;
  readonly #events: FrameStream;
  readonly #host: HostProcess;
  readonly #beat: NodeJS.Timeout;
  readonly #onEntry: () => void;
  readonly #onOpen: () => void;
  readonly #start: StartWatch;
  readonly #life = Promise.withResolvers<Life>();
  #outcome: Frame | undefined;
  /** Whether the host has the session. */
  #isOpen = false;
  /** Whether the host's reports about the end of the prompt are ignored. */
  #isLeft = false;

  constructor(
    { job, promptId }: { readonly job: PromptJob; readonly promptId: string },
    start: HostStart,
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
    this.#host = this.#startHost(start);
    this.#beat = setInterval(() => this.#host.write("\n"), start.silenceMs / BEATS);
    void this.#host.ended.then((exit) => {
      clearInterval(this.#beat);
      this.#start.end();
      this.#life.resolve(this.#ended(exit));
    });
    const capabilities = { hostRequests: true };
    const id = "tau-worker:initialize";
    this.send({ type: "initialize", id, stream: "delta", capabilities });
    const { message = "resume", images, outputSchema, verbatim, until } = job;
    const own = { promptId, message, images, outputSchema, verbatim, until, resume: true };
    this.send({ type: "prompt", id: "tau-worker:prompt", ...own });
  }

  #startHost({ cwd, words, variables, silenceMs }: HostStart): HostProcess {
    const program = createRequire(import.meta.url).resolve("@tau-agent/cli/bin/tau.js");
    const own = ["--mode", "rpc", "--client-timeout-ms", String(silenceMs)];
    return new HostProcess({
      command: [process.execPath, program, ...own, ...words],
      cwd,
      env: variables,
      // A signal to the worker must not reach its hosts, which may finish their work.
      isDetached: true,
      onLine: (line) => {
        const frame = parseObject(line);
        if (frame !== undefined) this.#take(frame);
      },
      onSkipped: () => undefined,
    });
  }

  /** Resolves when the prompt or its host has ended. */
  get life(): Promise<Life> {
    return this.#life.promise;
  }

  send(frame: Frame): void {
    this.#host.write(encodeLine(frame));
  }

  /** Shuts the host down: it aborts the run and gives its lease back. The prompt stays unfinished. */
  async end(): Promise<void> {
    this.#isLeft = true;
    this.#start.end();
    clearInterval(this.#beat);
    await this.#host.stop({ graceMs: END_MS });
  }

  #take(frame: Frame): void {
    const { type, id } = frame;
    if (typeof id === "string" && id.startsWith("tau-worker:") && type === "response") {
      this.#answered(frame);
      return;
    }
    if (type === "prompt_result" && frame.promptId === this.#promptId) {
      if (this.#isLeft) return;
      if (frame.status === "error" && unstored.has(frame.code)) {
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
      this.#isOpen = true;
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
    // The host also announces the result of a prompt that an earlier host finished.
    if (success !== true) {
      const kind = unstored.has(code) ? "ended" : "refused";
      this.#life.resolve({ kind, reason: String(error) });
      return;
    }
  }

  #askForText(): void {
    this.send({ type: "get_last_assistant_text", id: "tau-worker:text" });
  }

  #finish(text: string): void {
    const outcome = this.#outcome ?? {};
    void this.#announce(outcome).then(
      () => {
        const { status, error, code, pausedBy, output } = outcome;
        this.#life.resolve({
          kind: "result",
          result: {
            status: String(status),
            text: typeof outcome.text === "string" ? outcome.text : text,
            sessionId: this.#job.sessionId,
            ...(typeof error === "string" ? { error } : {}),
            ...(typeof code === "string" ? { code } : {}),
            ...(typeof pausedBy === "string" ? { pausedBy } : {}),
            ...(output === undefined ? {} : { output }),
          },
        });
      },
      (reason: unknown) => this.#life.resolve({ kind: "ended", reason: String(reason) }),
    );
  }

  /** Announced only once across all hosts: an earlier worker may have died between this and the end of the job. */
  async #announce(outcome: Frame): Promise<void> {
    if (await this.#events.hasResult(this.#promptId)) return;
    const { id: _, ...frame } = outcome;
    this.#events.add(frame);
    await this.#events.flushed();
  }

  #ended({ exitCode, signal, stderr, error }: HostExit & { readonly error?: Error }): Life {
    const end = error?.message ?? `it ended with ${signal ?? `code ${exitCode}`}`;
    const reason = stderr.trim().slice(-REASON_CHARACTERS) || end;
    if (this.#isOpen) return { kind: "ended", reason };
    if (exitCode === SESSION_HELD) return { kind: "locked", reason };
    // Another host may be able to start: the store may be reachable again.
    return { kind: exitCode === SESSION_DAMAGED ? "refused" : "ended", reason };
  }
}
