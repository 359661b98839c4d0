import {
  WorkspaceError,
  type WorkspaceExit,
  type WorkspaceProcess,
  type WorkspaceSpawnOptions,
  type WorkspaceStream,
} from "@tau-agent/rpc-protocol/workspace";
import { within } from "../../base/within.ts";
import type { SandboxProcess } from "./sandbox-session.ts";

const drainMs = 1_000;
/** How long the end of a command that was killed is waited for. */
const graceMs = 2_000;

/** A command of a sandbox session, which knows one way to end it and no input. */
export class SandboxCommand implements WorkspaceProcess {
  readonly pid: number | undefined;
  readonly done: Promise<WorkspaceExit>;
  readonly #process: SandboxProcess;
  readonly #options: WorkspaceSpawnOptions;
  readonly #given = Promise.withResolvers<WorkspaceExit>();
  #killedFor: "signal" | "limit" | undefined;
  #isOver = false;

  constructor(process: SandboxProcess, options: WorkspaceSpawnOptions) {
    this.pid = process.pid;
    this.#process = process;
    this.#options = options;
    this.done = this.#run();
    this.done.catch(() => undefined);
  }

  async write(): Promise<void> {
    throw new WorkspaceError("unsupported", "Commands of a sandbox session have no input");
  }

  endInput(): Promise<void> {
    return this.write();
  }

  async kill(signal = "SIGTERM"): Promise<void> {
    if (signal !== "SIGTERM" && signal !== "SIGKILL") {
      throw new WorkspaceError("unsupported", `A sandbox session does not send ${signal}`);
    }
    await this.#end("signal");
  }

  async #run(): Promise<WorkspaceExit> {
    const { signal, timeoutMs } = this.#options;
    const onAbort = () => void this.#end("signal");
    const timer =
      timeoutMs === undefined ? undefined : setTimeout(() => void this.#end("limit"), timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
    const streams = Promise.all([
      this.#pump(this.#process.stdout, "stdout"),
      this.#pump(this.#process.stderr, "stderr"),
    ]);
    try {
      const ended = Promise.resolve(this.#process.wait());
      const exit = await Promise.race([
        this.#given.promise,
        ended.then((end) => this.#exitOf(end)),
      ]);
      await within(drainMs, streams);
      return exit;
    } catch (error) {
      if (this.#killedFor !== undefined) return this.#exitOf({ exitCode: 137 });
      throw new WorkspaceError("lost", `workspace lost: ${Object(error).message ?? error}`, {
        cause: error,
      });
    } finally {
      this.#isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  #exitOf({ exitCode }: { readonly exitCode: number }): WorkspaceExit {
    if (this.#killedFor === undefined) return { exitCode };
    const exit = { exitCode: null, signal: "SIGKILL" };
    return this.#killedFor === "limit" ? { ...exit, timedOut: true } : exit;
  }

  async #end(reason: "signal" | "limit"): Promise<void> {
    if (this.#isOver) return;
    this.#killedFor ??= reason;
    await within(
      graceMs,
      Promise.resolve(this.#process.kill()).catch(() => undefined),
    );
    setTimeout(() => this.#given.resolve(this.#exitOf({ exitCode: 137 })), graceMs).unref();
  }

  async #pump(stream: ReadableStream<Uint8Array>, name: WorkspaceStream): Promise<void> {
    try {
      for await (const bytes of stream) {
        if (!this.#isOver && bytes.length > 0) await this.#options.onOutput(bytes, name);
      }
    } catch {
      // Its end says what is wrong.
    }
  }
}
