/** A host that is only asked for these stays as small as it is after its start. */
const ofState: ReadonlySet<string> = new Set(["get_state", "get_capabilities"]);

/** Nothing more comes of what a client asks at its start. */
const quietMs = 30;

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

  constructor(options: IdlePreparationOptions) {
    this.#options = options;
  }

  /**
   * A command has come.
   *
   * @param done - settles once it is answered, if it is not yet; must never reject
   */
  asked(command: string, done?: Promise<unknown>): void {
    if (this.#isDone) return;
    if (done !== undefined) void this.#await(done);
    if (this.#timer !== undefined) this.#timer.refresh();
    else if (!ofState.has(command)) this.#wait();
  }

  async #await(done: Promise<unknown>): Promise<void> {
    this.#pending += 1;
    await done;
    this.#pending -= 1;
  }

  #wait(): void {
    this.#timer = setTimeout(() => void this.#loadNext(), quietMs).unref();
  }

  async #loadNext(): Promise<void> {
    this.#timer = undefined;
    if (this.#pending > 0 || this.#options.isBusy()) return this.#wait();
    this.#pieces ??= [...this.#options.pieces()];
    const piece = this.#pieces.shift();
    this.#isDone = piece === undefined;
    // A command that needs it says what is wrong.
    await piece?.().catch(() => undefined);
    if (!this.#isDone && this.#timer === undefined) this.#wait();
  }
}
