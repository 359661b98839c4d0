import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { argv, execPath, getBuiltinModule, versions } from "node:process";
import type { ManagedPolicy } from "@tau-agent/rpc-protocol";
import { nearestHint } from "@tau-agent/rpc-protocol/plain";

/** Which conversation a host begins with. */
export type SessionChoice =
  | "memory"
  | "continue"
  | { readonly path: string; readonly kind?: undefined }
  | { readonly kind: "new" | "latest" }
  | { readonly kind: "memory" }
  /** The project's with exactly this id; a new one with the id if there is none. */
  | { readonly kind: "id"; readonly id: string }
  | { readonly kind: "file"; readonly path: string }
  /** A copy of the one in this file, or with this id. */
  | { readonly kind: "fork"; readonly from: string };

/** How to start a host. */
export interface HostCommandOptions {
  /** Program and arguments that start a host, e.g. `["docker", "exec", "-i", "box", "tau"]`. */
  readonly command?: readonly string[];
  /** A host's JavaScript entry, run with the current Node. */
  readonly cliPath?: string;
  readonly provider?: string;
  readonly model?: string;
  /** Models, as `provider/id`, that answer in this order when that one fails and its retries are used up. */
  readonly fallbackModels?: readonly string[];
  /**
   * The conversation: `memory` writes no file, `continue` goes on with the latest of the folder, and a
   * path names a session file, as in `createAgentSession`; `kind` says more. A new one by default.
   */
  readonly session?: SessionChoice;
  /** The names of the tools the model may call; all by default. */
  readonly tools?: readonly string[];
  /** Extensions to load, by path, besides those found on the host's machine. */
  readonly extensions?: readonly string[];
  /** What tools may do without being asked about; `all` by default. */
  readonly permissions?: "all" | "ask" | "acceptEdits" | "readOnly";
  /**
   * What its sessions may at most, whatever settings, projects, extensions and commands say. A host that
   * does not take it is not used.
   */
  readonly policy?: ManagedPolicy | readonly ManagedPolicy[];
  /** What survives the death of the host: the conversation, or also what its tools do, each of it once. */
  readonly durability?: "log" | "effects";
  /** How long a command waits for the next host when its own has died; a minute by default. */
  readonly durabilityAdoptMs?: number;
  /** Whether a prompt whose host died goes on at once; by default it waits for `prompt` with `resume`. */
  readonly resume?: "auto";
  /** The most replies of a prompt before it pauses. */
  readonly maxTurns?: number;
  /** More arguments for the host, after `--mode rpc`. */
  readonly args?: readonly string[];
}

/** The whole argument vector of the host, program first. */
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

/** `ssh` joins its words with blanks, and a shell of the other machine reads the result. */
function isSsh(program: string | undefined): boolean {
  return /(^|[/\\])ssh(\.exe)?$/i.test(program ?? "");
}

/** A word as a POSIX shell has to be given it. */
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

/** A list without names is not the absence of a list. */
function toolArguments(tools: readonly string[]): string[] {
  return tools.length === 0 ? ["--no-tools"] : ["--tools", tools.join(",")];
}

/** Added to the host's environment; Electron's own program runs as Node only with this. */
export function hostEnvironment(
  program: string,
  given: Readonly<Record<string, string | undefined>> | undefined,
): Readonly<Record<string, string | undefined>> | undefined {
  const isElectron = versions.electron !== undefined && program === execPath;
  return isElectron ? { ELECTRON_RUN_AS_NODE: "1", ...given } : given;
}

/**
 * An entry run with the current Node is preferred over the command on the PATH: on Windows that is
 * a shim, which `spawn` cannot start, and it may belong to another version.
 */
function defaultCommand(cliPath: string | undefined): readonly string[] {
  const entry = cliPath ?? installedEntry();
  return entry === undefined ? ["tau"] : [execPath, entry];
}

/**
 * The entry of the `@tau-agent/cli` installed next to this package, or as a dependency of the
 * running application. Never the one in the working directory, which may be an untrusted project.
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
    // Hidden from bundlers, which would resolve this at build time; only the installed host counts.
    const { createRequire } = getBuiltinModule("node:module");
    const manifestPath = createRequire(from).resolve("@tau-agent/cli/package.json");
    const manifest: unknown = JSON.parse(readFileSync(manifestPath, "utf8"));
    const entry = Reflect.get(Reflect.get(Object(manifest), "bin") ?? {}, "tau");
    return typeof entry === "string" ? join(dirname(manifestPath), entry) : undefined;
  } catch {
    return undefined;
  }
}
