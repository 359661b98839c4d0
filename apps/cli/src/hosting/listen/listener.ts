/** An address at which clients can connect. */
export interface Listener {
  /** The address. */
  readonly url: string;
  /** The path of the token file, if the listener requires a token. */
  readonly tokenFile?: string;
  /** Creates a link that opens the console once; undefined if there is no console. */
  readonly consoleLink?: (() => string) | undefined;
  /** Stops accepting connections. */
  stop(): void;
  /** Resolves once all connections have received their remaining data and are closed. */
  end(): Promise<void>;
}
