import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { argv, execPath, getBuiltinModule, versions } from "node:process";
import type { ManagedPolicy } from "@tau-agent/rpc-protocol";
import { nearestHint } from "@tau-agent/rpc-protocol/plain";

/** The conversation with which a host begins. */
export type SessionChoice =
  | "memory"
  | "continue"
  | { readonly path: string; readonly kind?: undefined }
  | { readonly kind: "new" | "latest" }
  | { readonly kind: "memory" }
  /** The project's session with exactly this id; if there is none, a new one with the id. */
  | { readonly kind: "id"; readonly id: string }
  | { readonly kind: "file"; readonly path: string }
  /** A copy of the session in this file or with this id. */
  | { readonly kind: "fork"; readonly from: string };

/** How to start a host. */
export interface HostCommandOptions {
  /** Program and arguments that start a host, e.g. `["docker", "exec", "-i", "box", "tau"]`. */
  readonly command?: readonly string[];
  /** A host's JavaScript entry, run with the current Node. */
  readonly cliPath?: string;
  readonly provider?: string;
  readonly model?: string;
  /** Models, as `provider/id`, to use in this order when the current one fails and its retries are exhausted. */
  readonly fallbackModels?: readonly string[];
  /**
   * The conversation: `memory` writes no file, `continue` resumes the latest in the folder, and a path names
   * a session file, as in `createAgentSession`; an object with `kind` offers more. A new one by default.
   */
  readonly session?: SessionChoice;
  /** The names of the tools the model may call; all by default. */
  readonly tools?: readonly string[];
  /** Extensions to load, by path, in addition to those found on the host's machine. */
  readonly extensions?: readonly string[];
  /** What tools may do without approval; `all` by default. */
  readonly permissions?: "all" | "ask" | "acceptEdits" | "readOnly";
  /**
   * The upper limit for its sessions, whatever settings, projects, extensions and commands say. A host that
   * does not apply the policy is not used.
   */
  readonly policy?: ManagedPolicy | readonly ManagedPolicy[];
  /**
   * What survives the death of the host: only the conversation, or also the effects of its tools, each exactly once.
   */
  readonly durability?: "log" | "effects";
  /** How long a command waits for the next host after its own has died; a minute by default. */
  readonly durabilityAdoptMs?: number;
  /** Whether a prompt whose host died continues at once; by default, it waits for `prompt` with `resume`. */
  readonly resume?: "auto";
  /** The maximum number of replies of a prompt before it pauses. */
  readonly maxTurns?: number;
  /** More arguments for the host, after `--mode rpc`. */
  readonly args?: readonly string[];
}

/** The complete command line of the host, program first. */
export function hostCommand(options: HostCommandOptions): [string, ...string[]] {
  const [program, ...first] = options.command ?? defaultCommand(options.cliPath);
  const rest = ["--mode", "rpc"];
  if (options.provider !== undefined) rest.push("--provider", options.provider);
  if (options.model !== undefined) rest.push("--model", options.model);
  for (const model of options.fallbackModels ?? []) rest.push("--fallback-model", model);
  rest.push(...sessionArguments(options.session));
  if (options.tools !== undefined) rest.push(...toolArguments(options.tools));
  for (const path of options.extensions ?? []) rest.push("--extension", path);
  if (options.permissions !== undefined) rest.push("--permission-mode", options.permissions);
  rest.push(...durabilityArguments(options));
  for (const policy of policiesOf(options)) rest.push("--policy", JSON.stringify(policy));
  rest.push(...(options.args ?? []));
  return [program ?? "tau", ...first, ...(isSsh(program) ? rest.map(quoted) : rest)];
}

function durabilityArguments(options: HostCommandOptions): string[] {
  const { durability, durabilityAdoptMs, resume, maxTurns } = options;
  const given = Object.entries({
    "--durability": durability,
    "--durability-adopt-ms": durabilityAdoptMs,
    "--max-turns": maxTurns,
  });
  const words = given.flatMap(([name, value]) =>
    value === undefined ? [] : [name, String(value)],
  );
  return resume === undefined ? words : [...words, "--resume-interrupted"];
}

/** The policies as a list. */
export function policiesOf({ policy = [] }: HostCommandOptions): readonly ManagedPolicy[] {
  return [policy].flat();
}

/** `ssh` joins its arguments with spaces, and the other machine's shell parses the result. */
function isSsh(program: string | undefined): boolean {
  return /(^|[/\\])ssh(\.exe)?$/i.test(program ?? "");
}

/** A word quoted for a POSIX shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function sessionArguments(session: SessionChoice | undefined): string[] {
  if (session === undefined || session === null) return [];
  if (session === "memory") return ["--no-session"];
  if (session === "continue") return ["--continue"];
  if (typeof session !== "object") throw wrongSession(session);
  const { kind, path, id, from } = session as Readonly<Record<string, unknown>>;
  const [option, value] = {
    file: ["--session", path],
    id: ["--session-id", id],
    fork: ["--fork", from],
    memory: ["--no-session", ""],
    latest: ["--continue", ""],
    new: ["", ""],
  }[String(kind ?? "file")] ?? [""];
  if (option === undefined || typeof value !== "string") throw wrongSession(session);
  return [String(option), value].filter((word) => word !== "");
}

function wrongSession(given: unknown): TypeError {
  const hint = typeof given === "string" ? nearestHint(given, ["memory", "continue"]) : "";
  const expected = '"memory", "continue", {path}, or {kind} of new, id, memory, file, latest, fork';
  return new TypeError(`session: expected ${expected}; got ${JSON.stringify(given)}${hint}`);
}

/** An empty list differs from no list. */
function toolArguments(tools: readonly string[]): string[] {
  return tools.length === 0 ? ["--no-tools"] : ["--tools", tools.join(",")];
}

/** Additions to the host's environment; without them, Electron's own program does not run as Node. */
export function hostEnvironment(
  program: string,
  given: Readonly<Record<string, string | undefined>> | undefined,
): Readonly<Record<string, string | undefined>> | undefined {
  const isElectron = versions.electron !== undefined && program === execPath;
  return isElectron ? { ELECTRON_RUN_AS_NODE: "1", ...given } : given;
}

/**
 * Prefers an installed entry, run with the current Node, to the command on the PATH: on Windows that is a
 * shim, which `spawn` cannot start, and it may belong to another version.
 */
function defaultCommand(cliPath: string | undefined): readonly string[] {
  const entry = cliPath ?? installedEntry();
  return entry === undefined ? ["tau"] : [execPath, entry];
}

/**
 * The entry of the `@tau-agent/cli` installed next to this package, or as a dependency of the running
 * application. Never the one in the working directory, which may be an untrusted project.
 */
function installedEntry(): string | undefined {
  for (const from of [import.meta.url, argv[1]]) {
    if (from === undefined) continue;
    const entry = entryFrom(from);
    if (entry !== undefined) return entry;
  }
  return undefined;
}

function entryFrom(from: string): string | undefined {
  try {
    // Hidden from bundlers, which would resolve it at build time; only the installed host counts.
    const { createRequire } = getBuiltinModule("node:module");
    const manifestPath = createRequire(from).resolve("@tau-agent/cli/package.json");
    const manifest: unknown = JSON.parse(readFileSync(manifestPath, "utf8"));
    const entry = Reflect.get(Reflect.get(Object(manifest), "bin") ?? {}, "tau");
    return typeof entry === "string" ? join(dirname(manifestPath), entry) : undefined;
  } catch {
    return undefined;
  }
}
