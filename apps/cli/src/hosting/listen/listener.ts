/** Something that clients connect to. */
export interface Listener {
  /** Where it is. */
  readonly url: string;
  /** Where its token is, if it takes one. */
  readonly tokenFile?: string;
  /** Makes a link that opens the console once; undefined if it serves none. */
  readonly consoleLink?: (() => string) | undefined;
  /** Accepts no more connections. */
  stop(): void;
  /** Fulfilled once all connections have got what is theirs and are closed. */
  end(): Promise<void>;
}
