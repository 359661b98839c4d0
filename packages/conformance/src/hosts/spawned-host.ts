import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { LoopbackApi } from "@tau-agent/ai/testing";
import type { Frame } from "../frames/frame-queue.ts";
import type { TestHost } from "../transcripts/play-transcript.ts";
import type { Transcript } from "../transcripts/transcript.ts";
import { HostProcess } from "./host-process.ts";
import { killTree } from "./kill-tree.ts";
import { servedModel, startModelServer } from "./model-server.ts";
import { makePlace, type Place } from "./place.ts";

export interface SpawnOptions {
  readonly argv: readonly string[];
  readonly timeoutMs: number;
  readonly api: LoopbackApi;
  /** How long a host may take until its first frame, in ms. Default 30 000. */
  readonly startMs?: number | undefined;
  /** Returns the check of a place's frames, which says why a frame is not allowed. */
  readonly violationIn?: ((place: Place) => (frame: Frame) => string | undefined) | undefined;
  /** Functions that kill the running hosts and remove their folders without waiting. */
  readonly abandoned?: Set<() => void> | undefined;
}

export interface SpawnedHost extends TestHost {
  readonly process: HostProcess;
}

/** Long enough for a host that loads a lot on a busy machine. */
const START_MS = 30_000;

/** More than any transcript produces. */
const MAX_FRAMES = 100_000;

/** How long a host may take to exit once its stdin is closed, in ms. */
const LEAVE_MS = 3_000;

/**
 * Starts a host for a transcript. Disposing it ends the host with all its children, and removes its model and folders.
 */
export async function spawnHost(
  transcript: Transcript,
  options: SpawnOptions,
): Promise<SpawnedHost> {
  const { argv, timeoutMs, api, violationIn, startMs = START_MS, abandoned } = options;
  const server = await startModelServer(transcript);
  const place = makePlace(transcript, () => servedModel(server, api));
  const mode = argv.some((word) => word === "--mode" || word.startsWith("--mode="))
    ? []
    : ["--mode", "rpc"];
  const temporary = join(place.folder, "tmp");
  mkdirSync(temporary);
  const variables = { ...place.variables, TMPDIR: temporary, TEMP: temporary };
  const started = { cwd: place.cwd, variables };
  const host = new HostProcess([...argv, ...mode, ...place.arguments], started, {
    isDetached: process.platform !== "win32",
    keepsOutput: false,
    violation: withoutFlood(violationIn?.(place)),
  });
  const abandon = (): void => {
    const { pid } = host.child;
    if (pid !== undefined) killTree(pid);
    place.remove();
  };
  abandoned?.add(abandon);
  let hasStarted = false;
  const next = async (): Promise<Frame | undefined> => {
    const frame = await host.frames.next(hasStarted ? timeoutMs : Math.max(startMs, timeoutMs));
    hasStarted = true;
    return frame;
  };
  return {
    process: host,
    folder: place.folder,
    send: (line) => host.send(line),
    next,
    async [Symbol.asyncDispose]() {
      await end(host);
      await server.close();
      place.remove();
      abandoned?.delete(abandon);
    },
  };
}

/** Wraps a check so that it also fails when too many frames come. */
function withoutFlood(violation: (frame: Frame) => string | undefined = () => undefined) {
  let count = 0;
  return (frame: Frame): string | undefined => {
    count += 1;
    if (count > MAX_FRAMES) return `more than ${MAX_FRAMES} frames came, and no end of them`;
    return violation(frame);
  };
}

async function end(host: HostProcess): Promise<void> {
  const { pid } = host.child;
  host.child.stdin.end();
  const timer = setTimeout(() => {
    if (pid !== undefined) killTree(pid);
  }, LEAVE_MS);
  await host.ended;
  clearTimeout(timer);
}
