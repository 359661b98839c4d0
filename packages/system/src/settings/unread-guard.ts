/** Represents the permissions of a file that could not be read at all, for example because it is too large. */
export class UnreadGuard {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}
