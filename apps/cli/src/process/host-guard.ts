import { closeSync, fstatSync, readSync } from "node:fs";
import type { Socket } from "node:net";
import { constants } from "node:os";
import { Worker } from "node:worker_threads";
import { type GuardData, guardCells, guardInWorker, inputStates } from "./guard-worker.ts";

const readInputName = "@tau-agent/read-input";
const exitName = "@tau-agent/exit";
const pieceBytes = 64 * 1024;
/** What a host whose thread is busy keeps of its input; the rest stays where it is, with its end. */
const maxKeptBytes = 64 * 1024 * 1024;

export interface GuardedInput {
  readonly stream: NodeJS.ReadableStream;
  readonly owesAnswers: () => boolean;
}

/** Ends the host in time, even if its thread is busy with something that does not return. */
export class HostGuard {
  readonly #shared = new Int32Array(
    new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * Object.keys(guardCells).length),
  );

  /**
   * Starts the guard's thread, which costs about 20 MB. Does nothing where Node refuses the thread
   * its internals.
   *
   * @param exit ends the process at once
   * @param signals names of the signals that end the host
   * @param input what ends the host when it ends; left alone unless stdin is a pipe or a socket
   */
  constructor(
    exit: (code: number) => void,
    signals: readonly NodeJS.Signals[],
    input?: GuardedInput,
  ) {
    try {
      Reflect.set(globalThis, Symbol.for(exitName), (code: number) => {
        // Node would say that it waits for a debugger, which is the guard.
        closeSync(2);
        exit(code);
      });
      if (input !== undefined) this.#offerInput(input);
      this.#start(signals);
    } catch {
      // Then signals wait for the thread, as in any program of Node's.
    }
  }

  #start(signals: readonly NodeJS.Signals[]): void {
    const data: GuardData = {
      memory: this.#shared.buffer as SharedArrayBuffer,
      cells: guardCells,
      inputStates,
      signals: signals.map((name) => constants.signals[name]),
      readInput: `globalThis[Symbol.for("${readInputName}")]?.()`,
      exit: `globalThis[Symbol.for("${exitName}")]`,
    };
    const worker = new Worker(`(${guardInWorker.toString()})()`, {
      eval: true,
      env: {},
      execArgv: ["--expose-internals", "--no-warnings"],
      name: "host-guard",
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
      workerData: data,
    });
    worker.on("message", (question: number) => {
      Atomics.store(this.#shared, guardCells.answered, question);
    });
    worker.on("error", () => {});
    worker.unref();
  }

  /**
   * Lets the guard look for the end of the input. Only this thread may read it, or lines could come
   * out of order; what is there is kept in the stream until the thread is free.
   */
  #offerInput({ stream, owesAnswers }: GuardedInput): void {
    const input = stream as Socket;
    const status = process.platform === "win32" ? undefined : fstatSync(0);
    if (!status?.isFIFO() && !status?.isSocket()) return;
    Reflect.set(globalThis, Symbol.for(readInputName), () => {
      // Only what flows may be stopped for a moment, so that pushing calls nobody now. A stream that
      // nobody listens to yet keeps what it gets; resumed, it would drop it.
      const { readableFlowing } = input;
      if (readableFlowing) input.pause();
      let state: number = inputStates.open;
      while (state === inputStates.open && input.readableLength < maxKeptBytes) {
        const piece = readInput();
        if (piece === undefined) break;
        if (piece.length > 0) input.push(piece);
        else if (input.readableLength > 0 || owesAnswers()) state = inputStates.owed;
        else state = inputStates.answered;
      }
      Atomics.store(this.#shared, guardCells.input, state);
      if (readableFlowing) input.resume();
    });
  }
}

/** What can be read at once: nothing for now, or empty at the end. */
function readInput(): Buffer | undefined {
  const piece = Buffer.allocUnsafe(pieceBytes);
  try {
    return piece.subarray(0, readSync(0, piece, 0, pieceBytes, null));
  } catch (error) {
    return Object(error).code === "EAGAIN" ? undefined : piece.subarray(0, 0);
  }
}
