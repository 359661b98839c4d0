/** Changing calls of one folder run one after the other, over all sessions of a host. */
export class FolderTurns {
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Does `work` when the earlier ones of the folder are done.
   *
   * @param onWait called when that takes a second
   * @throws the reason of `signal`, when it is aborted first
   */
  async run<Result>(
    folder: string,
    { signal, onWait }: { readonly signal: AbortSignal; readonly onWait: () => void },
    work: () => Promise<Result>,
  ): Promise<Result> {
    const before = this.#last.get(folder);
    const { promise, resolve } = Promise.withResolvers<void>();
    const own = before === undefined ? promise : before.then(() => promise);
    this.#last.set(folder, own);
    const timer = before && setTimeout(onWait, 1_000);
    const aborted = Promise.withResolvers<never>();
    // Only a call that waits listens.
    aborted.promise.catch(() => {});
    const onAbort = (): void => aborted.reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      if (before !== undefined) {
        signal.throwIfAborted();
        await Promise.race([before, aborted.promise]);
      }
      clearTimeout(timer);
      return await work();
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      resolve();
      if (this.#last.get(folder) === own) this.#last.delete(folder);
    }
  }
}
