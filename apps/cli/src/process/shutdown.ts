import { ParentWatch } from "./parent-watch.ts";

/** How long an orderly shutdown may take before the process is ended anyway. */
const DEADLINE_MS = 4500;

const signalExitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * The only orderly way to end the process. The end of stdin or the first signal starts it; a second signal ends the
 * process at once. Steps run in the order in which they were added; a deadline limits the total time.
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

  /** Whether another host can continue the session's work if this host dies instead of shutting down. */
  outlivesHost = false;
  readonly #parent = new ParentWatch();
  terminatedCode: number = signalExitCodes.SIGTERM;
  /**
   * Whether answers to the client are outstanding, in which case a busy host gets more time. A host that starts owes
   * its client at least the reason why it cannot.
   */
  owesAnswers: () => boolean = () => true;
  #drain: (() => Promise<void>) | undefined;

  /** Gives work time to end after SIGTERM, before the shutdown starts. Another signal does not wait for the work. */
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
   * Makes sure that the host ends in time even if its thread is stuck in code that does not return. Must be
   * called before third-party code is loaded; a host without such code saves the memory.
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
    // The guard's time limit is shorter than the time that work may take to end.
    const guarded = signals.filter((name) => name !== "SIGTERM" || this.#drain === undefined);
    const guardedInput = input && { stream: input, owesAnswers: () => this.owesAnswers() };
    new HostGuard(this.#exit, guarded, guardedInput);
  }

  /** The client has closed its connection: either it is done, or it was killed and this host ends with it. */
  clientLeft(): void {
    if (this.#parent.isGone) this.clientDied();
    else void this.begin(0);
  }

  /** The client was killed or paused: the next host of a session must find its work unchanged. */
  clientDied(): void {
    if (this.outlivesHost) this.#exit(1);
    else void this.begin(0);
  }

  /** Starts the shutdown, once; the `code` of the first call counts. */
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
        // A failing step must neither keep the others from running nor keep the process from ending.
      }
    }
    clearTimeout(deadline);
    this.#exit(code);
  }
}
