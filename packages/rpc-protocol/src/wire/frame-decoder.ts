import { errorText } from "../vocabulary/error.ts";
import type { RequestId } from "../vocabulary/host-frame.ts";
import { isJsonObject } from "../vocabulary/json-object.ts";
import { errorMessage } from "../vocabulary/system-limit.ts";
import { decodeFirst } from "./first-commands.ts";
import type { ClientFrame, decodeClientFrame, FrameError } from "./frame.ts";

type Listener = (frame: ClientFrame | FrameError) => void;

/**
 * Decodes the lines of a client and passes on the frames in order. Loading the table of commands with its
 * schemas takes longer than everything else that a host needs to start, so it is loaded for the first line
 * that needs it; later lines wait.
 */
export class FrameDecoder {
  readonly #onFrame: Listener;
  #decode: typeof decodeClientFrame | undefined;
  #waiting: string[] = [];
  #held: Promise<void> | undefined;

  constructor(onFrame: Listener) {
    this.#onFrame = onFrame;
  }

  /** Takes one line. */
  push(line: string): void {
    const frame = this.#held ? undefined : (this.#decode?.(line) ?? decodeFirst(readHead(line)));
    if (frame !== undefined) {
      this.#onFrame(frame);
      return;
    }
    this.#waiting.push(line);
    if (this.#held === undefined) this.hold(this.#load());
  }

  /** Makes lines wait for a promise, which must never reject. */
  hold(until: Promise<void>): void {
    this.#held = until.then(() => {
      this.#held = undefined;
      // One of them may start another wait; the others then wait again.
      for (const line of this.#waiting.splice(0)) this.push(line);
    });
  }

  /** Whether no line waits. */
  get isIdle(): boolean {
    return this.#held === undefined;
  }

  /** Resolves when no line waits any more; never rejects. */
  async idle(): Promise<void> {
    while (this.#held !== undefined) await this.#held;
  }

  async #load(): Promise<void> {
    try {
      ({ decodeClientFrame: this.#decode } = await loadFrames());
    } catch (error) {
      // Loading may fail because too many files are open; the next line tries again.
      for (const line of this.#waiting.splice(0)) {
        this.#onFrame(decodeFirst(readHead(line)) ?? refuse(line, error));
      }
    }
  }
}

/** Loads the modules for decoding commands with parameters. */
export const loadFrames = (): Promise<typeof import("./frame.ts")> => import("./frame.ts");

/** The program's own files are missing or damaged. */
function refuse(line: string, cause: unknown): FrameError {
  const { type, id } = readHead(line);
  const reason = errorMessage(cause);
  return {
    kind: "error",
    id: isRequestId(id) ? id : undefined,
    command: typeof type === "string" ? type : "parse",
    code: "internal",
    error: errorText("internal", { reason }),
  };
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || typeof id === "number";
}

function readHead(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
