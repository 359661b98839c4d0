import { closeSync, fstatSync, readSync } from "node:fs";
import type { Socket } from "node:net";
import { constants } from "node:os";
import { Worker } from "node:worker_threads";
import { type GuardData, guardCells, guardInWorker } from "./guard-worker.ts";

const readInputName = "@tau-agent/read-input";
const exitName = "@tau-agent/exit";
const pieceBytes = 64 * 1024;
/** At most this much input is taken at a time from a host whose thread is busy. */
const maxPieces = 256;

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
   * @param input what ends the host when it ends; left alone unless it is a pipe or a socket
   */
  constructor(
    exit: (code: number) => void,
    signals: readonly NodeJS.Signals[],
    input?: NodeJS.ReadableStream,
  ) {
    try {
      Reflect.set(globalThis, Symbol.for(exitName), (code: number) => {
        // Node would say that it waits for a debugger, which is the guard.
        closeSync(2);
        exit(code);
      });
      if (input !== undefined) this.#offerInput(input as Socket);
      this.#start(signals);
    } catch {
      // Then signals wait for the thread, as in any program of Node's.
    }
  }

  #start(signals: readonly NodeJS.Signals[]): void {
    const data: GuardData = {
      memory: this.#shared.buffer as SharedArrayBuffer,
      cells: guardCells,
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
   * out of order; what is there is kept until the thread is free.
   */
  #offerInput(input: Socket): void {
    const status = process.platform === "win32" ? undefined : fstatSync(0);
    if (!status?.isFIFO() && !status?.isSocket()) return;
    Reflect.set(globalThis, Symbol.for(readInputName), () => {
      // Paused, so that pushing calls nobody now.
      input.pause();
      for (let count = 0; count < maxPieces; count += 1) {
        const piece = readInput();
        if (piece === undefined) break;
        if (piece.length === 0) {
          Atomics.store(this.#shared, guardCells.hasInputEnded, 1);
          break;
        }
        input.push(piece);
      }
      input.resume();
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
