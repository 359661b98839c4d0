import { unlessAborted } from "@tau-agent/system";

/** Runs the changing calls of a folder one after the other, across all sessions of a host. */
export class FolderTurns {
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Runs `work` once the earlier work of the folder is done.
   *
   * @param onWait - called when the wait takes a second
   * @throws the reason of `signal` if it aborts first
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
    try {
      if (before !== undefined) await unlessAborted(before, signal);
      clearTimeout(timer);
      return await work();
    } finally {
      clearTimeout(timer);
      resolve();
      if (this.#last.get(folder) === own) this.#last.delete(folder);
    }
  }
}
