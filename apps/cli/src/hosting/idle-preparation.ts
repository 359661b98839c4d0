/**
 * Commands that load nothing and postpone no loading: a host that receives only these stays as small as after
 * its start.
 */
const ofState: ReadonlySet<string> = new Set(["get_state", "get_capabilities"]);

/** By then a person is thinking about the next step, and hosts that started at the same time have answered. */
const QUIET_MS = 500;
/** The pause between two pieces. */
const PAUSE_MS = 30;

type Piece = () => Promise<unknown>;

export interface IdlePreparationOptions {
  /** What to load, in order; called once. */
  readonly pieces: () => readonly Piece[];
  /** Whether any session is working. */
  readonly isBusy: () => boolean;
}

/**
 * While the client is idle, loads the code that prompts and session commands need, one piece at a time. The
 * first prompt then waits for no code, and no command waits for more than one piece.
 */
export class IdlePreparation {
  readonly #options: IdlePreparationOptions;
  #pieces: Piece[] | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** When the last command arrived. Not of `performance`, whose first use loads five modules of Node. */
  #askedAtMs = 0;
  #isDone = false;
  /** The number of commands that are not answered yet. */
  #pending = 0;
  /** The state at the last check. */
  #isBusy = false;

  constructor(options: IdlePreparationOptions) {
    this.#options = options;
  }

  /**
   * A command has arrived.
   *
   * @param done - settles once the command is answered; undefined if it already is; must never reject
   */
  asked(command: string, done?: Promise<unknown>): void {
    if (this.#isDone || ofState.has(command)) return;
    if (done !== undefined) void this.#await(done);
    // The timer looks at this when it fires, so that no command sets one again.
    this.#askedAtMs = Date.now();
    if (this.#timer === undefined) this.#wait(QUIET_MS);
  }

  async #await(done: Promise<unknown>): Promise<void> {
    this.#pending += 1;
    await done;
    this.#pending -= 1;
  }

  #wait(milliseconds: number): void {
    this.#timer = setTimeout(() => void this.#loadNext(), milliseconds).unref();
  }

  async #loadNext(): Promise<void> {
    this.#timer = undefined;
    const quietMs = Date.now() - this.#askedAtMs;
    // The clock may have been set back.
    if (quietMs < QUIET_MS) return this.#wait(QUIET_MS - Math.max(0, quietMs));
    const wasBusy = this.#isBusy;
    this.#isBusy = this.#pending > 0 || this.#options.isBusy();
    if (this.#isBusy || wasBusy) return this.#wait(QUIET_MS);
    this.#pieces ??= [...this.#options.pieces()];
    const piece = this.#pieces.shift();
    this.#isDone = piece === undefined;
    // Ignored here: the first command that needs the module reports the error.
    await piece?.().catch(() => undefined);
    if (!this.#isDone && this.#timer === undefined) this.#wait(PAUSE_MS);
  }
}
