import { closeSync, fstatSync, readSync } from "node:fs";
import type { Socket } from "node:net";
import { constants } from "node:os";
import { Worker } from "node:worker_threads";
import { type GuardData, guardCells, guardInWorker, inputStates } from "./guard-worker.ts";

const readInputName = "@tau-agent/read-input";
const exitName = "@tau-agent/exit";
const pieceBytes = 64 * 1024;
/** How much input is buffered while the host's thread is busy; the rest, including the end, stays in the pipe. */
const maxKeptBytes = 64 * 1024 * 1024;

export interface GuardedInput {
  readonly stream: NodeJS.ReadableStream;
  readonly owesAnswers: () => boolean;
}

/** Ends the host in time even if its thread is stuck in code that does not return. */
export class HostGuard {
  readonly #shared = new Int32Array(
    new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * Object.keys(guardCells).length),
  );

  /**
   * Starts the guard's thread, which costs about 20 MB. Does nothing if Node denies the thread access to its
   * internals.
   *
   * @param exit ends the process at once
   * @param signals names of the signals that end the host
   * @param input the input whose end ends the host; ignored unless stdin is a pipe or a socket
   */
  constructor(
    exit: (code: number) => void,
    signals: readonly NodeJS.Signals[],
    input?: GuardedInput,
  ) {
    try {
      Reflect.set(globalThis, Symbol.for(exitName), (code: number) => {
        // Node would report that it is waiting for a debugger, but the "debugger" is the guard.
        closeSync(2);
        exit(code);
      });
      if (input !== undefined) this.#offerInput(input);
      this.#start(signals);
    } catch {
      // Signals then wait for the thread, as in any Node program.
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
   * Lets the guard check for the end of the input. Only this thread may read the input, or lines could be
   * reordered; what it reads is buffered in the stream until the thread is free.
   */
  #offerInput({ stream, owesAnswers }: GuardedInput): void {
    const input = stream as Socket;
    const status = process.platform === "win32" ? undefined : fstatSync(0);
    if (!status?.isFIFO() && !status?.isSocket()) return;
    Reflect.set(globalThis, Symbol.for(readInputName), () => {
      // Pauses the stream only if it flows, so that `push` emits no event now. A stream without a listener
      // buffers anyway; resuming it would drop the data.
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

/** What can be read without blocking: undefined if there is nothing yet, empty at the end. */
function readInput(): Buffer | undefined {
  const piece = Buffer.allocUnsafe(pieceBytes);
  try {
    return piece.subarray(0, readSync(0, piece, 0, pieceBytes, null));
  } catch (error) {
    return Object(error).code === "EAGAIN" ? undefined : piece.subarray(0, 0);
  }
}
