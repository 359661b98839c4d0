import { statSync } from "node:fs";
import { constants } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { type LoopbackApi, loopbackApis } from "@tau-agent/ai/testing";
import { ProtocolError, protocolNames } from "@tau-agent/rpc-protocol";
import type { TextOutput } from "./play-for-client.ts";
import { formatReport, reportOf } from "./report.ts";
import { defaultApi, HostUnusable, runConformance, selectTranscripts } from "./run-conformance.ts";

const usage = `tau conformance [options] -- <host and its arguments>

Plays transcripts of the protocol against a host and tells per dialect which statements of its
document hold. The host is started with --mode rpc, unless a --mode is among its arguments.

  --dialect <names>     Dialects to try, comma-separated (default: those the host names, else pi)
  --filter <text>       Only transcripts whose name or requirements contain the text
  --strict              Further members and events are deviations, too
  --api <name>          Wire format of the scripted model (default ${defaultApi})
  --timeout-ms <n>      How long a frame is waited for (default 10000)
  --play <text>         Be the host of the one transcript with this in its name, on stdin and stdout,
                        for a client; what the client does wrong is told on stderr
  --json                Print the report as JSON
  --list                Print the transcripts and what they show, and start nothing
`;

/** Long enough for a busy machine, short enough where no frame is expected. */
const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 3_600_000;

const flags = {
  dialect: { type: "string" },
  filter: { type: "string" },
  strict: { type: "boolean" },
  api: { type: "string" },
  "timeout-ms": { type: "string" },
  json: { type: "boolean" },
  list: { type: "boolean" },
  play: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

interface Request {
  readonly argv: readonly string[];
  readonly dialects: readonly string[] | undefined;
  readonly filter: string | undefined;
  readonly api: LoopbackApi;
  readonly timeoutMs: number;
  readonly isStrict: boolean;
  readonly isJson: boolean;
  readonly isList: boolean;
  readonly isHelp: boolean;
  /** What the name of the transcript to play for a client contains. */
  readonly play: string | undefined;
}

/**
 * Runs `tau conformance` with the words behind it.
 *
 * @returns the exit code: 0 when everything holds, 1 when not or for a wrong option, 2 for a host that cannot be tried
 */
export async function conformance(words: readonly string[], output: TextOutput): Promise<number> {
  try {
    const request = readRequest(words);
    if (request.isHelp) return await print(output, usage, 0);
    if (request.isList) return await print(output, list(request), 0);
    if (request.play !== undefined) return await play(request.play, request, output);
    if (request.argv.length === 0) {
      return refuseBare();
    }
    const abandoned = abandonedAtSignals();
    const run = await runConformance({ ...request, abandoned, onPlayed: showProgress() });
    if (run.played.length === 0) throw invalid("--filter", "no transcript fits");
    const report = reportOf(run, request.argv);
    const text = request.isJson ? `${JSON.stringify(report, null, 2)}\n` : formatReport(report);
    return await print(output, text, report.ok ? 0 : 1);
  } catch (error) {
    if (!(error instanceof ProtocolError || error instanceof HostUnusable)) throw error;
    process.stderr.write(`tau: error: ${error.message}\n`);
    return error instanceof HostUnusable ? 2 : 1;
  }
}

/** A command line that names no host. */
function refuseBare(): number {
  const [synopsis] = usage.split("\n", 1);
  const example = "tau conformance -- tau";
  const text = `name the host to try: ${synopsis}, such as ${example}; see tau conformance --help`;
  process.stderr.write(`tau: error: ${text}\n`);
  return 1;
}

/**
 * What to do when this process is terminated. Hosts have process groups of their own, which a
 * Ctrl-C in the terminal does not reach.
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

function readRequest(words: readonly string[]): Request {
  const at = words.indexOf("--");
  const own = at === -1 ? words : words.slice(0, at);
  const values = parseFlags(own);
  const { dialect, api = defaultApi, "timeout-ms": timeout = DEFAULT_TIMEOUT_MS } = values;
  const timeoutMs = Number(timeout);
  if (!(timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS)) {
    const reason = `${JSON.stringify(timeout)} is no number from 1 to ${MAX_TIMEOUT_MS}`;
    throw invalid("--timeout-ms", reason);
  }
  return {
    argv: at === -1 ? [] : words.slice(at + 1).map(fromHere),
    dialects: dialect?.split(",").map((name) => oneOf("--dialect", name, protocolNames)),
    filter: values.filter,
    api: oneOf("--api", api, loopbackApis),
    timeoutMs,
    isStrict: values.strict === true,
    isJson: values.json === true,
    isList: values.list === true,
    isHelp: values.help === true,
    play: values.play,
  };
}

/** Hosts run in folders of their own, so a file that is named from here is named in full. */
function fromHere(word: string): string {
  const isFile = /[\\/.]/.test(word) && statSync(word, { throwIfNoEntry: false })?.isFile();
  return isFile ? resolve(word) : word;
}

function takesValue(option: string): boolean {
  return Object.entries(flags).some(
    ([name, { type }]) => `--${name}` === option && type === "string",
  );
}

/** A negative number is a wrong value, and no option. */
function withNumbers(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const isValue = joined.at(-1) === "--timeout-ms" && /^-[\d.]/.test(word);
    if (isValue) joined[joined.length - 1] += `=${word}`;
    else joined.push(word);
  }
  return joined;
}

type Values = ReturnType<typeof parseArgs<{ options: typeof flags; strict: true }>>["values"];

function parseFlags(words: readonly string[]): Values {
  try {
    // With --play, the client starts this program as it starts a host, with arguments of its own.
    const strict = !words.some((word) => word === "--play" || word.startsWith("--play="));
    const { values } = parseArgs({ args: withNumbers(words), options: flags, strict });
    return values as Values;
  } catch (error) {
    throw asInvalid(error);
  }
}

/** What Node says of the words, in our own. */
function asInvalid(error: unknown): unknown {
  if (!(error instanceof Error && "code" in error)) return error;
  const [word = "conformance"] = /--[\w-]+|(?<=')[^'\s]+(?=')/.exec(error.message) ?? [];
  const help = "see tau conformance --help";
  switch (error.code) {
    case "ERR_PARSE_ARGS_INVALID_OPTION_VALUE":
      return invalid(
        word,
        takesValue(word) ? `its value is missing; ${help}` : "it takes no value",
      );
    case "ERR_PARSE_ARGS_UNKNOWN_OPTION":
      return invalid(word, `there is no such option; ${help}`);
    case "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL":
      return invalid(word, "the host and its arguments come behind --");
    default:
      return invalid("conformance", error.message);
  }
}

/** Acts as the host of one transcript for the client on stdin and stdout. */
async function play(name: string, request: Request, output: TextOutput): Promise<number> {
  const found = selectTranscripts(request).filter((transcript) => transcript.name.includes(name));
  const exact = found.filter((one) => one.name === name || titleOf(one) === name);
  // One that several dialects share is played in the first of them.
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

/** The name without the dialect that tells it from its twins. */
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
