import { statSync } from "node:fs";
import { constants } from "node:os";
import { resolve } from "node:path";
import { type LoopbackApi, loopbackApis } from "@tau-agent/ai/testing";
import { ProtocolError, protocolNames } from "@tau-agent/rpc-protocol";
import type { TextOutput } from "./play-for-client.ts";
import { formatReport, reportOf } from "./report.ts";
import { defaultApi, HostUnusable, runConformance, selectTranscripts } from "./run-conformance.ts";

/** Long enough for a busy machine, and short enough for steps that expect no frame. */
const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 3_600_000;

/** The options of `tau conformance` as typed. */
interface ConformanceLine {
  readonly dialect?: string;
  readonly filter?: string;
  readonly strict?: boolean;
  readonly api?: string;
  readonly "timeout-ms"?: string;
  readonly json?: boolean;
  readonly list?: boolean;
  /** Part of the name of the transcript to play for a client. */
  readonly play?: string;
}

interface Request {
  readonly argv: readonly string[];
  readonly dialects: readonly string[] | undefined;
  readonly filter: string | undefined;
  readonly api: LoopbackApi;
  readonly timeoutMs: number;
  readonly isStrict: boolean;
  readonly isJson: boolean;
}

/**
 * Runs `tau conformance`.
 *
 * @param argv - the host's command line; may be empty
 *
 * @returns the exit code: 0 when everything holds, 1 when something fails or no host is given, 2 when the host cannot
 *   be started
 *
 * @throws {ProtocolError} `invalid_option`
 */
export async function conformance(
  line: ConformanceLine,
  argv: readonly string[],
  output: TextOutput,
): Promise<number> {
  const request = readRequest(line, argv);
  if (line.list) return print(output, list(request), 0);
  if (line.play !== undefined) return play(line.play, request, output);
  if (argv.length === 0) {
    const example = "[options] -- <host and its arguments>, such as tau conformance -- tau";
    const text = `name the host to try: tau conformance ${example}; see tau conformance --help`;
    process.stderr.write(`tau: error: ${text}\n`);
    return 1;
  }
  try {
    const abandoned = abandonedAtSignals();
    const run = await runConformance({ ...request, abandoned, onPlayed: showProgress() });
    if (run.played.length === 0) throw invalid("--filter", "no transcript fits");
    const report = reportOf(run, request.argv);
    const text = request.isJson ? `${JSON.stringify(report, null, 2)}\n` : formatReport(report);
    return await print(output, text, report.ok ? 0 : 1);
  } catch (error) {
    if (!(error instanceof HostUnusable)) throw error;
    process.stderr.write(`tau: error: ${error.message}\n`);
    return 2;
  }
}

/**
 * Returns the clean-up functions that run when this process is terminated. Hosts have their own
 * process groups, which a Ctrl-C in the terminal does not reach.
 */
function abandonedAtSignals(): Set<() => void> {
  const abandoned = new Set<() => void>();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      for (const abandon of abandoned) abandon();
      process.exit(128 + constants.signals[signal]);
    });
  }
  return abandoned;
}

function readRequest(line: ConformanceLine, argv: readonly string[]): Request {
  const { dialect, api = defaultApi, "timeout-ms": timeout = DEFAULT_TIMEOUT_MS } = line;
  const timeoutMs = Number(timeout);
  if (!(timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS)) {
    const reason = `${JSON.stringify(timeout)} is no number from 1 to ${MAX_TIMEOUT_MS}`;
    throw invalid("--timeout-ms", reason);
  }
  return {
    argv: argv.map(fromHere),
    dialects: dialect?.split(",").map((name) => oneOf("--dialect", name, protocolNames)),
    filter: line.filter,
    api: oneOf("--api", api, loopbackApis),
    timeoutMs,
    isStrict: line.strict === true,
    isJson: line.json === true,
  };
}

/** Hosts run in other folders, so a path relative to this one becomes absolute. */
function fromHere(word: string): string {
  const isFile = /[\\/.]/.test(word) && statSync(word, { throwIfNoEntry: false })?.isFile();
  return isFile ? resolve(word) : word;
}

/** Acts as the host of one transcript for the client on stdin and stdout. */
async function play(name: string, request: Request, output: TextOutput): Promise<number> {
  const found = selectTranscripts(request).filter((transcript) => transcript.name.includes(name));
  const exact = found.filter((one) => one.name === name || titleOf(one) === name);
  // A transcript shared by several dialects is played in the first of them.
  const [transcript, ...others] = exact.length > 0 ? exact : found;
  if (transcript === undefined) throw invalid("--play", "no transcript fits; see --list");
  const title = titleOf(transcript);
  const other = others.find((one) => titleOf(one) !== title);
  if (other !== undefined) {
    const reason = `${found.length} transcripts have that in their name, such as "${title}" and "${titleOf(other)}"`;
    throw invalid("--play", reason);
  }
  const { playForClient } = await import("./play-for-client.ts");
  const report = (deviation: string) => process.stderr.write(`tau: client: ${deviation}\n`);
  const client = { input: process.stdin, output, report };
  const argv = [process.execPath, process.argv[1] ?? ""];
  const spawn = { ...request, argv, abandoned: abandonedAtSignals() };
  return (await playForClient(transcript, client, spawn)) === 0 ? 0 : 1;
}

/** The name without the dialect that distinguishes it from the same transcript in other dialects. */
function titleOf({ name, dialect }: { readonly name: string; readonly dialect: string }): string {
  const twin = ` (${dialect})`;
  return name.endsWith(twin) ? name.slice(0, -twin.length) : name;
}

function oneOf<Name extends string>(option: string, value: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === value);
  if (found !== undefined) return found;
  throw invalid(option, `${JSON.stringify(value)} is not one of ${names.join(", ")}`);
}

const invalid = (option: string, reason: string): ProtocolError =>
  new ProtocolError("invalid_option", { option, reason });

function list({ dialects, filter, isJson }: Request): string {
  const transcripts = selectTranscripts({ dialects, filter });
  if (isJson) {
    const rows = transcripts.map(({ name, dialect, scope = "document", requirements }) => ({
      name,
      dialect,
      scope,
      requirements,
    }));
    return `${JSON.stringify(rows, null, 2)}\n`;
  }
  return transcripts
    .map(
      ({ name, dialect, requirements }) => `${dialect}  ${name}\n    ${requirements.join(", ")}\n`,
    )
    .join("");
}

/** Prints one character per transcript, on a terminal only. */
function showProgress(): ((played: { failure?: unknown }) => void) | undefined {
  if (!process.stderr.isTTY) return undefined;
  return ({ failure }) => process.stderr.write(failure === undefined ? "." : "F");
}

function print(output: TextOutput, text: string, code: number): Promise<number> {
  return new Promise((resolve) => output.write(text, () => resolve(code)));
}
