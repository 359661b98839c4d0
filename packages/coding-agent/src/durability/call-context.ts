import { AsyncLocalStorage } from "node:async_hooks";

/** What the wrapper of a workspace needs to know about a changing call. */
export interface CallContext {
  /** The id under which the call's first command is kept. */
  commandId?: string | undefined;
  /** The call continues this command of an earlier host, and starts nothing. */
  readonly adopts?: string | undefined;
  /** Whether the command no longer exists. */
  isMissing?: boolean;
  /** Records the state of a file before the call writes it. */
  readonly beforeWrite?: ((path: string, bytes: Uint8Array) => Promise<void>) | undefined;
  /** Records the folder before the call merges into it, so that the merge can be reverted. */
  readonly beforeMerge?: (() => Promise<void>) | undefined;
}

/** Tracks which call the current work belongs to. */
export class CallContexts {
  readonly #storage = new AsyncLocalStorage<CallContext>();

  run<Result>(context: CallContext, work: () => Result): Result {
    return this.#storage.run(context, work);
  }

  get current(): CallContext | undefined {
    return this.#storage.getStore();
  }
}
