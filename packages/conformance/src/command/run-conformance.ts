import { availableParallelism } from "node:os";
import type { LoopbackApi } from "@tau-agent/ai/testing";
import type { Frame } from "../frames/frame-queue.ts";
import { type SpawnedHost, type SpawnOptions, spawnHost } from "../hosts/spawned-host.ts";
import { Deviation, playTranscript } from "../transcripts/play-transcript.ts";
import { documentOf } from "../transcripts/requirements.ts";
import { readTranscripts, type Transcript } from "../transcripts/transcript.ts";

export interface ConformanceOptions extends SpawnOptions {
  /** Default: the dialects that the host announces, else `pi`. */
  readonly dialects?: readonly string[] | undefined;
  /** Only transcripts whose name or requirements contain this. */
  readonly filter?: string | undefined;
  /** Whether additional members and events count as deviations. */
  readonly isStrict: boolean;
  readonly onPlayed?: ((played: PlayedTranscript) => void) | undefined;
}

export interface PlayedTranscript {
  readonly transcript: Transcript;
  /** Undefined if the host followed the transcript. */
  readonly failure?: Failure | undefined;
  /** Frames that differ from their documented shape, one for each kind of difference. */
  readonly shapeProblems: readonly ShapeProblem[];
  readonly hasSpoken: boolean;
}

export interface Failure {
  /** The line in the transcript's file; undefined if nothing could be played. */
  readonly line?: number | undefined;
  readonly problem: string;
  readonly expected?: unknown;
  readonly got?: Frame | undefined;
  /** The end of the host's stderr. */
  readonly stderr: string;
}

/** A kind of frame whose shape differs from its document. */
export interface ShapeProblem {
  readonly problem: string;
  readonly frame: Frame;
}

interface HostIdentity {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  /** The dialects that the host announces; undefined if it announces none. */
  readonly protocols?: readonly string[] | undefined;
}

export interface ConformanceRun {
  readonly host: HostIdentity;
  readonly dialects: readonly string[];
  readonly played: readonly PlayedTranscript[];
}

/** The host cannot be started, or exits at once. */
export class HostUnusable extends Error {
  override readonly name = "HostUnusable";
}

/**
 * Plays the transcripts against a host, several in parallel, each in its own process.
 *
 * @throws {HostUnusable} when the host cannot be started
 */
export async function runConformance(options: ConformanceOptions): Promise<ConformanceRun> {
  const { isSilent, ...host } = await meetHost(options);
  // The host has had its time to start. Waiting again for every transcript would take hours if the host hangs.
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
  // Hosts mostly wait, so even one core can run two.
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

/** What the first contact with the host showed. */
interface Acquaintance extends HostIdentity {
  readonly isSilent: boolean;
}

/** The wait for a frame may be this many times longer while other frames keep coming. */
const PATIENCE = 3;

/** Starts the host once, to find out whether it starts and how it identifies itself. */
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
    // Only one request was sent, so any response answers it.
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

/** The next frame; undefined for a frame that violates the protocol. */
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
        // One problem per kind of difference, whatever the values.
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

/** Whether the host has exited, which explains its silence. */
function leaving({ process: { child } }: SpawnedHost): string {
  const how = child.exitCode === null ? child.signalCode : `exit code ${child.exitCode}`;
  return how === null ? "" : `: the host has ended (${how})`;
}

/** The lines of a host that a client could not parse. */
function noise({ process: { noiseCount, noise: lines } }: SpawnedHost): string {
  const first = lines[0]?.slice(0, 80);
  return first === undefined
    ? ""
    : `; lines that are no frame: ${noiseCount}, first ${JSON.stringify(first)}`;
}

/** The default wire format of the scripted model. */
export const defaultApi: LoopbackApi = "anthropic-messages";
