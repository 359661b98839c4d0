import {
  isWorkspaceError,
  type WorkspaceExit,
  type WorkspaceProcess,
  type WorkspaceSpawnOptions,
} from "@tau-agent/rpc-protocol/workspace";

type OnOutput = WorkspaceSpawnOptions["onOutput"];
/** Continues with the command over the next connection, after the given number of output bytes. */
type Adopt = (onOutput: OnOutput, fromOffset: number) => Promise<WorkspaceProcess>;

/** Starts a kept command, which continues over the next connection when this one is lost. */
export async function startKeptProcess<Options extends { readonly onOutput: OnOutput }>(
  options: Options,
  start: (options: Options) => Promise<WorkspaceProcess>,
  adopt: Adopt,
): Promise<WorkspaceProcess> {
  let seen = 0;
  const onOutput: OnOutput = (bytes, stream) => {
    seen += bytes.length;
    return options.onOutput(bytes, stream);
  };
  const goOn = async (error: unknown): Promise<WorkspaceProcess> => {
    if (!isWorkspaceError(error, "lost")) throw error;
    return adopt(onOutput, seen).catch((reason: unknown) => {
      // The command was never started, or not kept because its network ended at this host.
      throw isWorkspaceError(reason, "not_found") ? error : reason;
    });
  };
  // A command whose start was interrupted may be running: only a workspace that does not know it has not started it.
  let process = await start({ ...options, onOutput }).catch(goOn);
  const follow = async (): Promise<WorkspaceExit> => {
    for (;;) {
      try {
        return await process.done;
      } catch (error) {
        process = await goOn(error);
      }
    }
  };
  const done = follow();
  done.catch(() => {});
  return {
    get pid() {
      return process.pid;
    },
    write: (bytes) => process.write(bytes),
    endInput: () => process.endInput(),
    kill: (signal) => process.kill(signal),
    done,
  };
}
