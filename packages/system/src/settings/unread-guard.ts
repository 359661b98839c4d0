/** What a file says of permissions that could not be read at all, for example because it is too large. */
export class UnreadGuard {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}
