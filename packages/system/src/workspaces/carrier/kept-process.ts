import {
  isWorkspaceError,
  type WorkspaceExit,
  type WorkspaceProcess,
  type WorkspaceSpawnOptions,
} from "@tau-agent/rpc-protocol/workspace";

type OnOutput = WorkspaceSpawnOptions["onOutput"];
/** Goes on with the command over the next connection, behind so many bytes of output. */
type Adopt = (onOutput: OnOutput, fromOffset: number) => Promise<WorkspaceProcess>;

/** A kept command, which goes on over the next connection when this one is lost. */
export class KeptProcess implements WorkspaceProcess {
  readonly done: Promise<WorkspaceExit>;
  readonly #adopt: Adopt;
  readonly #onOutput: OnOutput;
  #process: WorkspaceProcess;
  #seen = 0;

  static async start<Options extends { readonly onOutput: OnOutput }>(
    options: Options,
    start: (options: Options) => Promise<WorkspaceProcess>,
    adopt: Adopt,
  ): Promise<KeptProcess> {
    let kept: KeptProcess | undefined;
    let early = 0;
    const onOutput: OnOutput = (bytes, stream) => {
      if (kept === undefined) early += bytes.length;
      else kept.#seen += bytes.length;
      return options.onOutput(bytes, stream);
    };
    const process = await start({ ...options, onOutput }).catch((error: unknown) => {
      // It may have been started: only a place that knows nothing of it has not.
      if (!isWorkspaceError(error, "lost")) throw error;
      return adopt(onOutput, 0).catch((reason: unknown) => {
        throw isWorkspaceError(reason, "not_found") ? error : reason;
      });
    });
    kept = new KeptProcess(process, options.onOutput, adopt);
    kept.#seen += early;
    return kept;
  }

  private constructor(process: WorkspaceProcess, onOutput: OnOutput, adopt: Adopt) {
    this.#process = process;
    this.#onOutput = onOutput;
    this.#adopt = adopt;
    this.done = this.#follow();
    this.done.catch(() => {});
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#process.write(bytes);
  }

  endInput(): Promise<void> {
    return this.#process.endInput();
  }

  kill(signal?: string): Promise<void> {
    return this.#process.kill(signal);
  }

  async #follow(): Promise<WorkspaceExit> {
    for (;;) {
      try {
        return await this.#process.done;
      } catch (error) {
        if (!isWorkspaceError(error, "lost")) throw error;
        this.#process = await this.#adopt((bytes, stream) => {
          this.#seen += bytes.length;
          return this.#onOutput(bytes, stream);
        }, this.#seen).catch((reason: unknown) => {
          // It was not kept: its network ended at this host.
          throw isWorkspaceError(reason, "not_found") ? error : reason;
        });
      }
    }
  }
}
