/** Why a foreign address was not fetched, as a clause: "example.com is at 10.0.0.1, which …". */
export class ForeignError extends Error {
  /** Whether the address itself must not be fetched, whatever it would answer. */
  readonly isRefused: boolean;

  constructor(reason: string, options: ErrorOptions & { readonly isRefused?: boolean } = {}) {
    super(reason, options);
    this.isRefused = options.isRefused ?? false;
  }
}
