import { AsyncLocalStorage } from "node:async_hooks";

/** What a changing call does to the workspace, as far as its wrapper has to know. */
export interface CallContext {
  /** Keeps the first command of the call under this id. */
  commandId?: string | undefined;
  /** The call goes on with this command of an earlier host, and starts nothing. */
  readonly adopts?: string | undefined;
  /** The command is gone. */
  isMissing?: boolean;
  /** Notes what a file was before the call writes it. */
  readonly beforeWrite?: ((path: string, bytes: Uint8Array) => Promise<void>) | undefined;
  /** Makes what the call is about to merge into the folder a change that can be taken back. */
  readonly beforeMerge?: (() => Promise<void>) | undefined;
}

/** Which call the work belongs to that runs now. */
export class CallContexts {
  readonly #storage = new AsyncLocalStorage<CallContext>();

  run<Result>(context: CallContext, work: () => Result): Result {
    return this.#storage.run(context, work);
  }

  get current(): CallContext | undefined {
    return this.#storage.getStore();
  }
}
