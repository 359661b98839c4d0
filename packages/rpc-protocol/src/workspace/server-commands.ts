import type { ExecServerExit } from "./frame-schemas.ts";
import { encodeBytes, type FrameId, MAX_PIECE_BYTES, type SendToClient } from "./frames.ts";
import type {
  WorkspaceExit,
  WorkspaceProcess,
  WorkspaceSpawnOptions,
  WorkspaceStream,
} from "./workspace.ts";
import { WorkspaceError } from "./workspace-error.ts";

/** The commands started by clients that have not ended. */
export class ServerCommands {
  readonly #send: SendToClient;
  readonly #processes = new Map<FrameId, WorkspaceProcess>();
  #started = 0;

  constructor(send: SendToClient) {
    this.#send = send;
  }

  /** Starts a command and answers; resolves once it has ended and its output is sent. */
  async run(
    id: FrameId,
    start: (onOutput: WorkspaceSpawnOptions["onOutput"]) => Promise<WorkspaceProcess>,
  ): Promise<ExecServerExit> {
    let isAnswered: () => void = () => {};
    // Frames are sent in order: the answer, the output, the end.
    let sent = new Promise<void>((resolve) => {
      isAnswered = resolve;
    });
    const onOutput = (bytes: Uint8Array, stream: WorkspaceStream): Promise<void> => {
      sent = sent.then(() => this.#output(id, bytes, stream));
      return sent;
    };
    const process = await start(onOutput);
    const processId = ++this.#started;
    const { pid } = process;
    this.#processes.set(processId, process);
    await this.#send({ id, result: { processId, ...(pid === undefined ? {} : { pid }) } });
    isAnswered();
    const exit = await process.done.catch((): WorkspaceExit => ({ exitCode: null }));
    this.#processes.delete(processId);
    await sent;
    const { exitCode, signal, timedOut } = exit;
    return {
      id,
      event: "exit",
      exitCode,
      ...(signal === undefined ? {} : { signal }),
      ...(timedOut === undefined ? {} : { timedOut }),
    };
  }

  /** @throws {WorkspaceError} `not_found` if there is no such command, or it has ended */
  get(processId: FrameId): WorkspaceProcess {
    const process = this.#processes.get(processId);
    if (process !== undefined) return process;
    throw new WorkspaceError("not_found", `No command ${processId} is running`);
  }

  async #output(id: FrameId, bytes: Uint8Array, stream: WorkspaceStream): Promise<void> {
    for (let at = 0; at < bytes.length; at += MAX_PIECE_BYTES) {
      const data = encodeBytes(bytes.subarray(at, at + MAX_PIECE_BYTES));
      await this.#send({ id, event: "output", stream, data });
    }
  }
}
