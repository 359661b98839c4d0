import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { errorMessage, nearestHint } from "@tau-agent/rpc-protocol/plain";

/** The options of a worker. */
export interface WorkerOptions {
  /** The Redis server of the queue and the streams. */
  readonly redis: string;
  readonly queue: string;
  /** The session store, as in a host's `--store`. */
  readonly store: string;
  readonly concurrency: number;
  /** The folder that hosts work in, unless {@link checkout} provides one for each job. */
  readonly cwd: string;
  /** The path of a module that provides folders. */
  readonly checkout: string | undefined;
  readonly leaseMs: number;
  readonly drainTimeoutMs: number;
  /** How long a job waits for a session that another host holds, before the job fails. */
  readonly lockTimeoutMs: number;
  /** How many hosts may end in a row without a new entry before the job fails. */
  readonly maxLives: number;
  /** The types of commands that the control stream accepts; undefined for all of them. */
  readonly control: ReadonlySet<string> | undefined;
  /** The command-line options of the hosts. */
  readonly host: readonly string[];
  /** The environment variables of the hosts. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** The usage text. */
export const usage = `tau-worker --redis <url> --queue <name> --store <url> [options] -- <host options>

  --redis <url>            Redis with the queue and the streams; or TAU_REDIS
  --queue <name>           name of the BullMQ queue
  --store <url>            store of the sessions, as tau --store; or TAU_STORE
  --concurrency <n>        jobs at the same time (1)
  --cwd <folder>           where hosts work (the current folder)
  --checkout <module>      makes a folder for each job instead
  --lease-ms <n>           lease of jobs and sessions (30000)
  --drain-timeout-ms <n>   how long SIGTERM waits for running prompts (25000)
  --lock-timeout-ms <n>    how long a job waits for a session that another host keeps (600000)
  --max-lives <n>          hosts that may end in a row without a new entry (10)
  --control <types>        commands taken from the control stream, comma-separated (all)
`;

const text = { type: "string" } as const;
const options = {
  redis: text,
  queue: text,
  store: text,
  concurrency: text,
  cwd: text,
  checkout: text,
  "lease-ms": text,
  "drain-timeout-ms": text,
  "lock-timeout-ms": text,
  "max-lives": text,
  control: text,
} as const;

export class UsageError extends Error {
  override readonly name = "UsageError";
}

/**
 * Reads the command line.
 *
 * @throws {UsageError} that names the option
 */
export function readOptions(
  argv: readonly string[],
  variables: WorkerOptions["variables"],
  cwd: string,
): WorkerOptions {
  const split = argv.indexOf("--");
  const own = split === -1 ? argv : argv.slice(0, split);
  const values = parsed(own);
  const { TAU_REDIS, TAU_STORE, ...rest } = variables;
  const redis = required("--redis", values.redis ?? TAU_REDIS, "TAU_REDIS");
  // Without the value, which may contain a password.
  if (!/^rediss?:\/\//.test(redis)) {
    throw new UsageError("--redis must begin with redis:// or rediss://");
  }
  return {
    redis,
    queue: required("--queue", values.queue),
    store: required("--store", values.store ?? TAU_STORE, "TAU_STORE"),
    concurrency: count("--concurrency", values.concurrency, 1),
    cwd: folder("--cwd", values.cwd ?? cwd),
    checkout: values.checkout,
    leaseMs: count("--lease-ms", values["lease-ms"], 30_000),
    drainTimeoutMs: count("--drain-timeout-ms", values["drain-timeout-ms"], 25_000),
    lockTimeoutMs: count("--lock-timeout-ms", values["lock-timeout-ms"], 600_000),
    maxLives: count("--max-lives", values["max-lives"], 10),
    control: values.control === undefined ? undefined : new Set(values.control.split(",")),
    host: split === -1 ? [] : withPolicies(argv.slice(split + 1), cwd),
    variables: rest,
  };
}

/**
 * The options of the hosts, with policy files replaced by their content: the same path may be another file in a host's
 * folder.
 */
function withPolicies(words: readonly string[], cwd: string): string[] {
  return words.map((word, at) => {
    const [option, inline] = /^(--policy=)(.*)$/s.exec(word)?.slice(1) ?? ["", undefined];
    const value = inline ?? (words[at - 1] === "--policy" ? word : undefined);
    if (value === undefined || value.trimStart().startsWith("{")) return word;
    try {
      return `${option}${JSON.stringify(JSON.parse(readFileSync(resolve(cwd, value), "utf8")))}`;
    } catch (error) {
      throw new UsageError(`--policy: ${value}: ${errorMessage(error)}`);
    }
  });
}

/** The options whose values would show a password in the process list. */
export function shownPasswords(argv: readonly string[]): string[] {
  return argv.flatMap((word, at) => {
    const [, name] = /^--(redis|store)(?:=|$)/.exec(word) ?? [];
    const value = word.includes("=") ? word : (argv[at + 1] ?? "");
    return name !== undefined && /:\/\/[^/?#]*:[^/?#]*@/.test(value) ? [`--${name}`] : [];
  });
}

function parsed(words: readonly string[]) {
  const args = [...words];
  const { tokens } = parseArgs({ args, options, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind !== "option" || Object.hasOwn(options, token.name)) continue;
    const hint = nearestHint(token.name, Object.keys(options), "--");
    throw new UsageError(`there is no option ${token.rawName}${hint}`);
  }
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function required(option: string, value: string | undefined, variable?: string): string {
  if (value) return value;
  throw new UsageError(
    `${option} is missing${variable === undefined ? "" : `; or set ${variable}`}`,
  );
}

function folder(option: string, path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw new UsageError(`${option}: ${path} is not a folder`);
}

function count(option: string, value: string | undefined, fallback: number): number {
  if (value === undefined) return fallback;
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new UsageError(`${option} takes a whole number above 0, not ${JSON.stringify(value)}`);
}
