import { ParentWatch } from "./parent-watch.ts";

/** How long an orderly end may take before the process ends anyway. */
const DEADLINE_MS = 4500;

const signalExitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * The one way out: stdin's end and the first signal begin it, a second signal ends the process at
 * once. Steps run in the order they were added; whatever they do is bounded by a deadline.
 */
export class Shutdown {
  readonly #exit: (code: number) => void;
  readonly #steps: (() => Promise<void>)[] = [];
  #ending: Promise<void> | undefined;
  #hasSignal = false;
  #guard: Promise<void> | undefined;

  constructor(exit: (code: number) => void) {
    this.#exit = exit;
  }

  /** Whether a session goes on elsewhere with what runs here, if this host dies and does not end in order. */
  outlivesHost = false;
  readonly #parent = new ParentWatch();
  terminatedCode: number = signalExitCodes.SIGTERM;
  /** Whether the client still has to get answers, so that a host whose thread is busy gets more time. */
  owesAnswers: () => boolean = () => false;
  #drain: (() => Promise<void>) | undefined;

  /** Lets work end before the end that SIGTERM begins. Another signal does not wait for it. */
  beforeTermination(drain: () => Promise<void>): void {
    this.#drain = drain;
  }

  get hasBegun(): boolean {
    return this.#ending !== undefined;
  }

  onShutdown(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  listen(): void {
    for (const [signal, code] of Object.entries(signalExitCodes)) {
      process.on(signal, () => {
        if (this.#hasSignal) this.#exit(code);
        this.#hasSignal = true;
        if (signal === "SIGTERM") void this.#terminate();
        else void this.begin(code);
      });
    }
  }

  /**
   * Sees to it that the end comes in time, even if this thread is busy with something that does not
   * return. To be called before code of others is loaded; a host without any saves the memory.
   *
   * @param input whose end ends the process
   */
  async watch(input?: NodeJS.ReadableStream): Promise<void> {
    this.#guard ??= this.#startGuard(input);
    await this.#guard;
  }

  async #terminate(): Promise<void> {
    await this.#drain?.().catch(() => {});
    await this.begin(this.terminatedCode);
  }

  async #startGuard(input?: NodeJS.ReadableStream): Promise<void> {
    const { HostGuard } = await import("./host-guard.ts");
    const signals = Object.keys(signalExitCodes) as NodeJS.Signals[];
    // The guard's time is shorter than work may take to end.
    const guarded = signals.filter((name) => name !== "SIGTERM" || this.#drain === undefined);
    const guardedInput = input && { stream: input, owesAnswers: () => this.owesAnswers() };
    new HostGuard(this.#exit, guarded, guardedInput);
  }

  /** Nothing comes from the client any more: it is done, or it was killed, and this host goes with it. */
  clientLeft(): void {
    if (this.#parent.isGone) this.clientDied();
    else void this.begin(0);
  }

  /** The client has died, or was paused: the next host of a session has to find its work as it is. */
  clientDied(): void {
    if (this.outlivesHost) this.#exit(1);
    else void this.begin(0);
  }

  /** Begins the end, once; `code` of the first call counts. */
  begin(code: number): Promise<void> {
    this.#ending ??= this.#run(code);
    return this.#ending;
  }

  async #run(code: number): Promise<void> {
    const deadline = setTimeout(() => this.#exit(code), DEADLINE_MS);
    for (const step of this.#steps) {
      try {
        await step();
      } catch {
        // One step that fails must not keep the others from running, nor the process from ending.
      }
    }
    clearTimeout(deadline);
    this.#exit(code);
  }
}
