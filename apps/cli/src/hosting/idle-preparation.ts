/** A host that is only asked for these stays as small as it is after its start; polls of it postpone nothing. */
const ofState: ReadonlySet<string> = new Set(["get_state", "get_capabilities"]);

/** A person is needed for what comes next, and other hosts that started at the same time have answered. */
const QUIET_MS = 500;
/** Between two pieces. */
const PAUSE_MS = 30;

type Piece = () => Promise<unknown>;

export interface IdlePreparationOptions {
  /** What to load, in order; asked for once. */
  readonly pieces: () => readonly Piece[];
  /** Whether a session works. */
  readonly isBusy: () => boolean;
}

/**
 * Loads what prompts and session commands need while a client asks nothing, one piece at a time, so that the
 * first of them waits for no code and no command waits for more than a piece.
 */
export class IdlePreparation {
  readonly #options: IdlePreparationOptions;
  #pieces: Piece[] | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isDone = false;
  /** Commands that are being answered. */
  #pending = 0;
  /** As it was seen last. */
  #isBusy = false;

  constructor(options: IdlePreparationOptions) {
    this.#options = options;
  }

  /**
   * A command has come.
   *
   * @param done - settles once it is answered, if it is not yet; must never reject
   */
  asked(command: string, done?: Promise<unknown>): void {
    if (this.#isDone || ofState.has(command)) return;
    if (done !== undefined) void this.#await(done);
    clearTimeout(this.#timer);
    this.#wait(QUIET_MS);
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
    const wasBusy = this.#isBusy;
    this.#isBusy = this.#pending > 0 || this.#options.isBusy();
    if (this.#isBusy || wasBusy) return this.#wait(QUIET_MS);
    this.#pieces ??= [...this.#options.pieces()];
    const piece = this.#pieces.shift();
    this.#isDone = piece === undefined;
    // A command that needs it says what is wrong.
    await piece?.().catch(() => undefined);
    if (!this.#isDone && this.#timer === undefined) this.#wait(PAUSE_MS);
  }
}
