import { join } from "node:path";
import { PassThrough } from "node:stream";
import { FrameQueue, mismatch, type Pattern } from "@tau-agent/conformance";
import { LineDecoder } from "@tau-agent/rpc-protocol";
import { onTestFinished } from "vitest";
import { readHostLine } from "../../src/command-line/read-host-line.ts";
import { serveHost } from "../../src/hosting/serve-host.ts";
import { Shutdown } from "../../src/process/shutdown.ts";
import { recordHost } from "../recording/record-host.ts";
import { makePlace, type Place, type PlaceSetup } from "./place.ts";
import { SchemaCheck } from "./schema-check.ts";
import { binPath } from "./start-host.ts";
import type { Frame } from "./test-client.ts";

/** A host in this process: everything but the process itself is real. Its subagents are built hosts. */
export class MemoryHost {
  readonly place: Place;
  readonly frames: FrameQueue;
  /** All of its output. */
  stdout = "";
  readonly #recording: ReturnType<typeof recordHost>;
  readonly #input = new PassThrough();
  readonly #exit = Promise.withResolvers<number>();
  readonly #lines = new LineDecoder();

  private constructor(place: Place) {
    this.place = place;
    const check = new SchemaCheck(place);
    this.frames = new FrameQueue((frame) => check.violation(frame));
    this.#recording = recordHost(place.arguments, place.variables);
  }

  static async open(place: Place): Promise<MemoryHost> {
    const host = new MemoryHost(place);
    await host.#serve();
    return host;
  }

  /** Sends a line, or a command as a line. */
  send(given: string | object): void {
    const line = `${typeof given === "string" ? given : JSON.stringify(given)}\n`;
    this.#recording.append("stdin", line);
    this.#input.write(line);
  }

  /** The next matching frame; earlier frames are skipped. */
  async until(pattern: Pattern, timeoutMs?: number): Promise<Frame> {
    for (;;) {
      const frame = await this.frames.next(timeoutMs);
      if (frame === undefined) throw new RangeError(`No frame fits ${JSON.stringify(pattern)}`);
      if (mismatch(pattern, frame) === undefined) return frame;
    }
  }

  /** Ends the input; returns the exit code that a process would have. */
  async finish(): Promise<{ readonly code: number }> {
    this.#input.end();
    return { code: await this.#exit.promise };
  }

  async #serve(): Promise<void> {
    const { place } = this;
    const environment = {
      cwd: place.cwd,
      program: [process.execPath, binPath],
      homeDirectory: place.folder,
      temporaryDirectory: place.folder,
      agentDirectory: join(place.folder, "agent"),
      sessionDirectory: undefined,
      variables: place.variables,
    };
    const shutdown = new Shutdown((code) => {
      this.frames.end();
      this.#exit.resolve(code);
    });
    const output = {
      write: (piece: string | Uint8Array, onWritten?: () => void) => {
        this.#take(typeof piece === "string" ? Buffer.from(piece) : piece);
        if (onWritten !== undefined) setImmediate(onWritten);
        return true;
      },
      onDrain: () => {},
      onClosed: () => {},
    };
    const logger = { warn() {}, error() {}, debug() {}, diagnostics() {} };
    await serveHost({
      options: readHostLine(place.arguments),
      environment,
      logger,
      output,
      input: this.#input,
      shutdown,
      words: place.arguments,
      beforeExtensions: async () => {},
    });
  }

  #take(piece: Uint8Array): void {
    this.#recording.append("stdout", piece);
    for (const line of this.#lines.push(piece)) {
      if (!("text" in line)) continue;
      this.stdout += `${line.text}\n`;
      this.frames.push(JSON.parse(line.text));
    }
  }
}

/** A host for the running test; stopped and removed with its folder when the test ends. */
export async function startMemoryHost(
  setup: PlaceSetup = {},
  place: Place = makePlace(setup),
): Promise<MemoryHost> {
  const host = await MemoryHost.open(place);
  onTestFinished(async () => {
    await host.finish();
    place.remove();
  });
  return host;
}
