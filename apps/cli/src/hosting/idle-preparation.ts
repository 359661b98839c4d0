/** A host that is only asked for these stays as small as it is after its start. */
const ofState: ReadonlySet<string> = new Set(["get_state", "get_capabilities"]);

/** Nothing more comes of what a client asks at its start. */
const quietMs = 30;

type Piece = () => Promise<unknown>;

export interface IdlePreparationOptions {
  /** What to load, in order; asked for once. */
  readonly pieces: () => readonly Piece[];
  /** Whether a command is being answered, or a session works. */
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

  constructor(options: IdlePreparationOptions) {
    this.#options = options;
  }

  /** A command has come. */
  asked(command: string): void {
    if (this.#timer !== undefined) this.#timer.refresh();
    else if (!this.#isDone && !ofState.has(command)) this.#wait();
  }

  #wait(): void {
    this.#timer = setTimeout(() => void this.#loadNext(), quietMs).unref();
  }

  async #loadNext(): Promise<void> {
    this.#timer = undefined;
    if (this.#options.isBusy()) return this.#wait();
    this.#pieces ??= [...this.#options.pieces()];
    const piece = this.#pieces.shift();
    this.#isDone = piece === undefined;
    // A command that needs it says what is wrong.
    await piece?.().catch(() => undefined);
    if (!this.#isDone && this.#timer === undefined) this.#wait();
  }
}
