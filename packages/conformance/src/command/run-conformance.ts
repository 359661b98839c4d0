import { availableParallelism } from "node:os";
import type { LoopbackApi } from "@tau-agent/ai/testing";
import type { Frame } from "../frames/frame-queue.ts";
import { type SpawnedHost, type SpawnOptions, spawnHost } from "../hosts/spawned-host.ts";
import { Deviation, playTranscript } from "../transcripts/play-transcript.ts";
import { documentOf } from "../transcripts/requirements.ts";
import { readTranscripts, type Transcript } from "../transcripts/transcript.ts";

export interface ConformanceOptions extends SpawnOptions {
  /** Default: those the host says it speaks, else `pi`. */
  readonly dialects?: readonly string[] | undefined;
  /** Only transcripts whose name or requirements contain this. */
  readonly filter?: string | undefined;
  /** Whether every further member and event is a deviation. */
  readonly isStrict: boolean;
  readonly onPlayed?: ((played: PlayedTranscript) => void) | undefined;
}

export interface PlayedTranscript {
  readonly transcript: Transcript;
  /** Undefined when the host did what the transcript says. */
  readonly failure?: Failure | undefined;
  /** Frames whose shape is not the documented one, once for each way they differ. */
  readonly shapeProblems: readonly ShapeProblem[];
  readonly hasSpoken: boolean;
}

export interface Failure {
  /** The line in the transcript's file; undefined when the host could not be played with at all. */
  readonly line?: number | undefined;
  readonly problem: string;
  readonly expected?: unknown;
  readonly got?: Frame | undefined;
  /** What the host last said on stderr. */
  readonly stderr: string;
}

/** A kind of frame that is not as its document prints it. */
export interface ShapeProblem {
  readonly problem: string;
  readonly frame: Frame;
}

interface HostIdentity {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  /** Dialects it says it speaks; undefined when it does not say. */
  readonly protocols?: readonly string[] | undefined;
}

export interface ConformanceRun {
  readonly host: HostIdentity;
  readonly dialects: readonly string[];
  readonly played: readonly PlayedTranscript[];
}

/** A host that cannot be started or leaves at once. */
export class HostUnusable extends Error {
  override readonly name = "HostUnusable";
}

/**
 * Plays the transcripts against a host, some of them at once, each with a process of its own.
 *
 * @throws {HostUnusable} when the host cannot be started
 */
export async function runConformance(options: ConformanceOptions): Promise<ConformanceRun> {
  const { isSilent, ...host } = await meetHost(options);
  // It had its time to start. Asked for that time in every transcript, a host that hangs takes hours.
  const spawn = isSilent ? { ...options, startMs: 0 } : options;
  const dialects = options.dialects ?? documented(host.protocols ?? ["pi"]);
  const queue = selectTranscripts({ ...options, dialects }).filter(
    // Tau's own additions are tried only on a host that announces them.
    (transcript) => host.protocols !== undefined || !isOwn(transcript),
  );
  const played: PlayedTranscript[] = [];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const result = await playOne(next, spawn);
      played.push(result);
      options.onPlayed?.(result);
      if (isSilent && !result.hasSpoken) queue.length = 0;
    }
  };
  // A host waits more than it works.
  const workers = Math.min(8, Math.max(2, availableParallelism()));
  await Promise.all(Array.from({ length: workers }, work));
  played.sort((a, b) => (a.transcript.name < b.transcript.name ? -1 : 1));
  return { host, dialects, played };
}

/** The transcripts of some dialects; with a filter, those whose name or requirements contain it. */
export function selectTranscripts({
  dialects,
  filter = "",
}: Pick<ConformanceOptions, "dialects" | "filter">): Transcript[] {
  return readTranscripts().filter(
    ({ dialect, name, requirements }) =>
      (dialects === undefined || dialects.includes(dialect)) &&
      [name, ...requirements].some((text) => text.includes(filter)),
  );
}

function documented(names: readonly string[]): readonly string[] {
  const known = new Set(readTranscripts().map(({ dialect }) => dialect));
  return names.filter((name) => known.has(name));
}

/** Whether a transcript shows only what Tau adds to the document of the dialect. */
function isOwn({ scope, dialect, requirements }: Transcript): boolean {
  return scope === "tau" || requirements.every((id) => documentOf(id) !== dialect);
}

/** A host as it was when it was met. */
interface Acquaintance extends HostIdentity {
  readonly isSilent: boolean;
}

/** How much longer a frame is waited for while others come than while none does. */
const PATIENCE = 3;

/** Starts the host once, to see that it can be started and what it says of itself. */
async function meetHost(options: ConformanceOptions): Promise<Acquaintance> {
  const dialect = options.dialects?.[0] ?? "pi";
  const transcript: Transcript = { name: "", title: "", requirements: [], steps: [], dialect };
  await using host = await spawnHost(transcript, options);
  host.send('{"id":"hello","type":"get_capabilities"}');
  let isSilent = true;
  const endMs = performance.now() + PATIENCE * options.timeoutMs;
  for (;;) {
    const frame = await next(host);
    if (frame === undefined || (!isSilent && performance.now() > endMs)) break;
    isSilent = false;
    // Any response answers the only request.
    if (frame.type !== "response" && frame.type !== "error") continue;
    return { isSilent, ...(frame.success === true ? identityOf(frame.data) : {}) };
  }
  const { child, stderr } = host.process;
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    return { isSilent };
  }
  const { code, error } = await host.process.ended;
  const reason = error?.message ?? `it ended with exit code ${code}`;
  const said = stderr.trim() === "" ? "" : `\n${stderr.trim().slice(-2_000)}`;
  throw new HostUnusable(`Cannot start the host ${options.argv.join(" ")}: ${reason}${said}`);
}

/** The next frame of a host that may still send what it must not. */
async function next(host: SpawnedHost): Promise<Frame | undefined> {
  try {
    return await host.next();
  } catch {
    return undefined;
  }
}

function identityOf(data: unknown): HostIdentity {
  const { name, version, protocols } = (data ?? {}) as Record<string, unknown>;
  return {
    name: typeof name === "string" ? name : undefined,
    version: typeof version === "string" ? version : undefined,
    protocols: Array.isArray(protocols) ? protocols.map(String) : undefined,
  };
}

async function playOne(
  transcript: Transcript,
  options: ConformanceOptions,
): Promise<PlayedTranscript> {
  const shapes = new Map<string, ShapeProblem>();
  await using host = await spawnHost(transcript, options);
  const hasSpoken = (): boolean => host.process.frames.count > 0;
  const failed = (failure: Omit<Failure, "stderr">): PlayedTranscript => ({
    transcript,
    hasSpoken: hasSpoken(),
    failure: { ...failure, stderr: host.process.stderr.trim().slice(-2_000) },
    shapeProblems: [...shapes.values()],
  });
  try {
    await playTranscript(transcript, host, {
      isTolerant: !options.isStrict,
      patienceMs: PATIENCE * options.timeoutMs,
      onShapeProblem: (problem, frame) => {
        // Once for each way, not for each value.
        const key = `${frame.type} ${frame.command} ${problem.replace(/: .*/s, "")}`;
        if (!shapes.has(key)) shapes.set(key, { problem, frame });
      },
    });
    return { transcript, hasSpoken: hasSpoken(), shapeProblems: [...shapes.values()] };
  } catch (error) {
    if (error instanceof Deviation) {
      const { line, expected, got } = error;
      const problem =
        got === undefined ? `${error.problem}${leaving(host)}${noise(host)}` : error.problem;
      return failed({ line, problem, expected, got });
    }
    return failed({ problem: error instanceof Error ? error.message : String(error) });
  }
}

/** Whether a host has gone, which explains its silence. */
function leaving({ process: { child } }: SpawnedHost): string {
  const how = child.exitCode === null ? child.signalCode : `exit code ${child.exitCode}`;
  return how === null ? "" : `: the host has ended (${how})`;
}

/** What a host printed that a client could not read. */
function noise({ process: { noiseCount, noise: lines } }: SpawnedHost): string {
  const first = lines[0]?.slice(0, 80);
  return first === undefined
    ? ""
    : `; lines that are no frame: ${noiseCount}, first ${JSON.stringify(first)}`;
}

/** The wire format of the scripted model, unless another is asked for. */
export const defaultApi: LoopbackApi = "anthropic-messages";
