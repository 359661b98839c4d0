import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { OutputSink } from "./output-pump.ts";
import { SandboxStartError } from "./process-error.ts";
import type { EnclosedCommand } from "./sandbox.ts";

/** The descriptor on which a sandbox says that it is set up, and that the command begins. */
export const startDescriptor = 3;

type Announcing = Partial<Pick<EnclosedCommand, "announcesStart">>;

/** A child's streams above the standard ones, for `spawn`. */
export function startPipe({ announcesStart }: Announcing): readonly "pipe"[] {
  return announcesStart ? ["pipe"] : [];
}

/**
 * Whether a command inside has begun. Output waits until that is known: what is said before is the sandbox's
 * own, and the reason why it could not be set up.
 */
export class StartWatch {
  /** False once it is certain that the command never ran. */
  readonly begun: Promise<boolean>;
  #hasBegun = false;
  #reason = "";

  /** Undefined for a command that does not announce its start. */
  static of(child: Pick<ChildProcess, "stdio">, command: Announcing): StartWatch | undefined {
    if (!command.announcesStart) return undefined;
    return new StartWatch(child.stdio[startDescriptor] as Readable);
  }

  /** @param announcement says something as soon as the command begins, or ends without */
  private constructor(announcement: Readable) {
    announcement.on("error", () => {});
    this.begun = new Promise((resolve) => {
      announcement.once("data", () => {
        this.#hasBegun = true;
        resolve(true);
        announcement.destroy();
      });
      announcement.once("close", () => resolve(false));
    });
  }

  /** Passes to a sink what the command says. */
  hold(sink: OutputSink): OutputSink {
    return (chunk, stream) =>
      this.#hasBegun ? sink(chunk, stream) : this.#pass(chunk, stream, sink);
  }

  /** Takes what was said by a child whose command has not begun. */
  keep(chunk: Buffer): void {
    this.#reason += chunk.toString();
  }

  /** Why the command did not run. */
  failure(): SandboxStartError {
    return new SandboxStartError(this.#reason.trim().replace(/^bwrap: /, ""));
  }

  async #pass(...[chunk, stream, sink]: [...Parameters<OutputSink>, OutputSink]): Promise<void> {
    if (await this.begun) await sink(chunk, stream);
    else this.keep(chunk);
  }
}
