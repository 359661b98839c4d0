import { isJsonObject, type JsonObject } from "../vocabulary/json-object.ts";
import type { CommandEvents, FrameCalls } from "./frame-calls.ts";
import { encodeBytes, isFrameId, MAX_PIECE_BYTES } from "./frames.ts";
import type {
  WorkspaceAdoptOptions,
  WorkspaceExit,
  WorkspaceProcess,
  WorkspaceSpawnOptions,
} from "./workspace.ts";
import { isWorkspaceError, WorkspaceError } from "./workspace-error.ts";

/** A command that runs behind frames. */
export class FramedProcess implements CommandEvents, WorkspaceProcess {
  readonly #calls: FrameCalls;
  readonly #onOutput: WorkspaceSpawnOptions["onOutput"];
  readonly done: Promise<WorkspaceExit>;
  #processId: unknown;
  pid: number | undefined;
  #taken: Promise<void> = Promise.resolve();
  #end: (exit: WorkspaceExit) => void = () => {};
  #fail: (error: WorkspaceError) => void = () => {};
  #hasEnded = false;

  private constructor(calls: FrameCalls, onOutput: WorkspaceSpawnOptions["onOutput"]) {
    this.#calls = calls;
    this.#onOutput = onOutput;
    this.done = new Promise((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
    });
    // Not every caller awaits the end, so its rejection is handled here.
    this.done.catch(() => {});
  }

  static async start(
    calls: FrameCalls,
    method: "spawn" | "adopt",
    { onOutput, signal, ...params }: WorkspaceSpawnOptions | WorkspaceAdoptOptions,
  ): Promise<FramedProcess> {
    const process = new FramedProcess(calls, onOutput);
    const { id, answer } = calls.open(method, params, signal, process);
    try {
      const result = await answer;
      const { processId, pid } = isJsonObject(result) ? result : {};
      if (!isFrameId(processId)) throw new WorkspaceError("failed", `Invalid answer to ${method}`);
      process.#processId = processId;
      process.pid = typeof pid === "number" ? pid : undefined;
    } catch (error) {
      // If the command was started after all, it must not continue to run.
      if (!isWorkspaceError(error, "lost")) calls.cancel(id);
      calls.forget(id);
      throw error;
    }
    process.#watch(id, signal);
    return process;
  }

  #watch(id: number, signal: AbortSignal | undefined): void {
    const forget = (): void => {
      signal?.removeEventListener("abort", onAbort);
      this.#calls.forget(id);
    };
    const onAbort = (): void => {
      if (!this.#hasEnded) this.#calls.cancel(id);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
    this.done.then(forget, forget);
  }

  take(event: JsonObject): void {
    if (this.#hasEnded) return;
    if (event.event === "output" && typeof event.data === "string") {
      this.#output(Buffer.from(event.data, "base64"), event.stream === "stderr");
    } else if (event.event === "exit") {
      this.#hasEnded = true;
      const { exitCode, signal, timedOut } = event;
      const exit = {
        exitCode: typeof exitCode === "number" ? exitCode : null,
        ...(typeof signal === "string" ? { signal } : {}),
        ...(timedOut === true ? { timedOut } : {}),
      };
      void this.#taken.then(() => this.#end(exit));
    }
  }

  lose(error: WorkspaceError): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    void this.#taken.then(() => this.#fail(error));
  }

  async write(bytes: Uint8Array): Promise<void> {
    const processId = this.#processId;
    const pieces = [];
    // Sends all pieces at once, so that those of another call do not come between them.
    for (let at = 0; at < bytes.length; at += MAX_PIECE_BYTES) {
      const data = encodeBytes(bytes.subarray(at, at + MAX_PIECE_BYTES));
      pieces.push(this.#calls.call("write_input", { processId, data }));
    }
    await Promise.all(pieces);
  }

  async endInput(): Promise<void> {
    await this.#unlessGone(this.#calls.call("end_input", { processId: this.#processId }));
  }

  async kill(signal?: string): Promise<void> {
    if (this.#hasEnded) return;
    await this.#unlessGone(this.#calls.call("kill", { processId: this.#processId, signal }));
  }

  /** It may have ended in the meantime. */
  async #unlessGone(call: Promise<unknown>): Promise<void> {
    await call.catch((error: unknown) => {
      if (!isWorkspaceError(error, "not_found")) throw error;
    });
  }

  #output(bytes: Uint8Array, isError: boolean): void {
    this.#calls.hold(bytes.length);
    const taken = this.#taken.then(() => this.#onOutput(bytes, isError ? "stderr" : "stdout"));
    this.#taken = taken.catch(() => {}).then(() => this.#calls.hold(-bytes.length));
  }
}
