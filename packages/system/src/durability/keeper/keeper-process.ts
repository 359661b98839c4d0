import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { nobodys } from "../../processes/process-owners.ts";
import { failedStart } from "../../processes/start-status.ts";
import { createFrameWriter } from "./frame-writer.ts";
import { createJobWriter } from "./job-writer.ts";
import {
  createCommandWatch,
  createKeeperFiles,
  createMask,
  type KeeperReport,
  type KeepRequest,
  keepCommands,
  killMarked,
} from "./keep-commands.ts";
import { createStartCheck } from "./start-check.ts";

/** A command could not be started; `code` is the system's, as in an error of `spawn`. */
class KeeperError extends Error {
  override readonly name = "KeeperError";
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

/** The process that starts and follows commands that outlive this host. */
export class KeeperProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #starting = new Map<string, PromiseWithResolvers<number>>();
  readonly #listeners = new Map<string, () => void>();
  #hasEnded = false;

  constructor({ SystemRoot }: Readonly<Record<string, string | undefined>> = {}) {
    this.#child = spawn(process.execPath, ["-e", keeperSource()], {
      cwd: "/",
      env: { ...nobodys, ...(SystemRoot === undefined ? {} : { SystemRoot }) },
      detached: true,
      stdio: ["pipe", "pipe", "ignore"],
      windowsHide: true,
    });
    const { stdin, stdout } = this.#child;
    stdin.on("error", () => {});
    const end = () => this.#end();
    this.#child.once("error", end).once("exit", end);
    this.#child.unref();
    for (const pipe of [stdin, stdout] as unknown as Socket[]) pipe.unref?.();
    let text = "";
    stdout.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (text + chunk).split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) this.#take(JSON.parse(line) as KeeperReport);
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Starts a command; returns its process id.
   *
   * @param onNews called when there may be more output or the command may have ended
   * @throws {KeeperError} the command could not be started
   */
  async start(request: KeepRequest, onNews?: () => void): Promise<number> {
    const { id } = request;
    const starting = Promise.withResolvers<number>();
    this.#starting.set(id, starting);
    if (onNews !== undefined) this.#listeners.set(id, onNews);
    const stdout = this.#child.stdout as unknown as Socket;
    // The host stays alive for this answer, but not for the command.
    stdout.ref?.();
    this.#child.stdin.write(`${JSON.stringify(request)}\n`);
    if (this.#hasEnded) this.#end();
    try {
      return await starting.promise;
    } finally {
      this.#starting.delete(id);
      if (this.#starting.size === 0) stdout.unref?.();
    }
  }

  forget(id: string): void {
    this.#listeners.delete(id);
  }

  /** Starts no more commands; running ones continue. */
  leave(): void {
    this.#child.stdin.end();
    this.#child.stdout.destroy();
    this.#child.unref();
  }

  #take({ id, pid, error, code }: KeeperReport): void {
    const starting = this.#starting.get(id);
    if (error !== undefined) starting?.reject(new KeeperError(error, code));
    else if (pid !== undefined) starting?.resolve(pid);
    else this.#listeners.get(id)?.();
  }

  #end(): void {
    this.#hasEnded = true;
    const error = new KeeperError("the process that follows it ended");
    for (const { reject } of this.#starting.values()) reject(error);
    for (const onNews of this.#listeners.values()) onNews();
  }
}

/** The keeper's program as source text: a bundle has no file to start. */
function keeperSource(): string {
  const all = {
    ...{ createWriter: createJobWriter, createMask, createFrames: createFrameWriter, killMarked },
    ...{ createFiles: createKeeperFiles, createWatch: createCommandWatch },
    ...{ createStartCheck, failedStart },
  };
  const parts = Object.entries(all).map(([name, code]) => `${name}: ${code}`);
  return `(${keepCommands})({ ${parts.join(", ")} })`;
}
