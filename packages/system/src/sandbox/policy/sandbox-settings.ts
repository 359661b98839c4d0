import { isAbsolute, join, resolve } from "node:path";
import {
  isJsonObject,
  type SandboxMode,
  SessionError,
  sandboxModes,
} from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { isInside } from "../../base/files/isolated-tree.ts";
import { readWord } from "../../settings/read-word.ts";
import { coversDomain } from "./domain-list.ts";
import { readSecrets, type SandboxSecret } from "./secret-settings.ts";
import { usableSecrets } from "./usable-secrets.ts";

export { sourceVariables } from "./secret-settings.ts";

/** The names that a sandbox may reach over the network: none, all, or those on a list. */
type SandboxNetwork = "off" | "all" | readonly string[];

/** What happens if this machine has no sandbox. */
type SandboxFallback = "refuse" | "ask" | "run";

/** The sandbox settings of one file, or of one caller. */
export interface SandboxChange {
  /** `workspace` lets commands write in the working folder, `readOnly` nowhere but in `write`. */
  readonly mode?: SandboxMode | undefined;
  /** More writable paths: absolute, `~`, or relative to the working folder. */
  readonly write?: readonly string[] | undefined;
  /** Paths that may not be read, written in the same way. */
  readonly denyRead?: readonly string[] | undefined;
  /** A domain is an exact name, or `*.name` for all below it. */
  readonly network?: SandboxNetwork | undefined;
  readonly whenUnavailable?: SandboxFallback | undefined;
  /** Credentials that commands use but never see; only from the user and the caller. */
  readonly secrets?: readonly SandboxSecret[] | undefined;
  /** A file with additional authorities to trust for the hosts of secrets. */
  readonly upstreamCertificates?: string | undefined;
}

/** A sandbox with every member decided. */
export type SandboxPolicy = {
  readonly [Member in keyof SandboxChange]-?: NonNullable<SandboxChange[Member]>;
};

export interface SandboxFile {
  readonly path: string;
  readonly scope: "user" | "project";
  readonly value: unknown;
}

/** The most that a sandbox may allow, whatever files and callers ask for. */
export type SandboxCeiling = Pick<SandboxChange, "mode" | "write" | "network">;

interface Places {
  readonly cwd: string;
  readonly homeDirectory: string;
}

/** The host's policy for the sandbox, and how to react if more is requested. */
export interface SandboxLimit {
  readonly ceiling: SandboxCeiling;
  readonly places: Places;
  /** Called with each member of a source that requests more; may throw. */
  readonly onExcess: (member: string, path: string | undefined) => void;
}

interface Problem {
  readonly field: string;
  readonly reason: string;
}

const fallbacks = ["refuse", "ask", "run"] as const;
const ofUser = ["secrets", "upstreamCertificates"];
const members = ["mode", "write", "denyRead", "network", "whenUnavailable", ...ofUser];

/** No sandbox. */
export const noSandbox: SandboxPolicy = {
  mode: "off",
  write: [],
  denyRead: [],
  network: "off",
  whenUnavailable: "refuse",
  secrets: [],
  upstreamCertificates: "",
};

/**
 * The sandbox of a session: the caller's settings, which replace the user's, tightened by those of the project.
 *
 * @throws {SessionError} `invalid_settings` for a bad value of the user or of a trusted project, and
 * `invalid_option` for one of the caller: a misunderstood setting must not mean "no sandbox"
 */
export function settleSandbox(
  files: readonly SandboxFile[],
  options: {
    readonly isProjectTrusted: boolean;
    readonly given?: SandboxChange | undefined;
    /** In addition to the secrets of the settings, or of `given`. */
    readonly secrets?: unknown;
    readonly limit?: SandboxLimit | undefined;
  },
): { readonly policy: SandboxPolicy; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const { limit } = options;
  // Members that nobody sets are as in the limit.
  let policy = joined(noSandbox, limit?.ceiling ?? {});
  const join = (change: SandboxChange, path?: string): void => {
    if (limit !== undefined) noteExcess(change, path, limit);
    policy = joined(policy, change);
  };
  if (options.given !== undefined) join(readGiven(options.given));
  const closing = [limit?.ceiling.network ?? "all"];
  for (const { path, scope, value } of files) {
    const ownValue = scope === "project" ? withoutOfUser(value, path, diagnostics) : value;
    const { change, problems } = readSandbox(ownValue);
    const [problem] = problems;
    const isOwn = scope === "user" || options.isProjectTrusted;
    if (problem !== undefined && isOwn) {
      throw new SessionError("invalid_settings", { path, reason: textOf(problem) });
    }
    if (problem !== undefined) diagnostics.push(ignored(problem, path));
    if (scope === "project") {
      // An invalid limit could mean anything, so the strictest one applies.
      policy = tightened(policy, problem === undefined ? change : { ...change, mode: "readOnly" });
      closing.push(change.network ?? "all");
    } else if (options.given === undefined) join(change, path);
  }
  const asked = { ...policy, secrets: [...policy.secrets, ...readAdded(options.secrets)] };
  const held = limit === undefined ? asked : limited(asked, limit);
  const { secrets, unused } = usableSecrets(held, closing);
  if (unused.length > 0) diagnostics.push(unusedSecrets(unused, held));
  const isOption = options.secrets !== undefined || options.given?.secrets !== undefined;
  if (held.mode === "off" && isOption && asked.secrets.length > 0) {
    const reason = "secrets need a sandbox, and sandbox.mode is off";
    throw new SessionError("invalid_option", { option: "secrets", reason });
  }
  return { policy: { ...held, secrets }, diagnostics };
}

/** A project must not name programs and hosts for the credentials of its user. */
function withoutOfUser(value: unknown, path: string, diagnostics: Diagnostic[]): unknown {
  if (!isJsonObject(value)) return value;
  for (const name of ofUser.filter((each) => value[each] !== undefined)) {
    const message = `Setting sandbox.${name} is only read from the user's own settings; it is ignored (in ${path})`;
    diagnostics.push({ severity: "warning", message, path, member: `sandbox.${name}` });
  }
  return Object.fromEntries(Object.entries(value).filter(([name]) => !ofUser.includes(name)));
}

function readAdded(value: unknown): readonly SandboxSecret[] {
  const problems: Problem[] = [];
  const secrets = readSecrets(value, true, problems);
  const [problem] = problems;
  if (problem === undefined) return secrets ?? [];
  throw new SessionError("invalid_option", { option: problem.field, reason: problem.reason });
}

function unusedSecrets(names: readonly string[], { mode }: SandboxPolicy): Diagnostic {
  const why =
    mode === "off" ? "sandbox.mode is off" : "a project or the host's policy closes their hosts";
  const message = `The secrets for ${names.join(", ")} are not used: ${why}.`;
  return { severity: "warning", code: "sandbox_secret_unused", message };
}

/** Under a managed policy nothing runs without a sandbox, and nobody can override that. */
function isManaged({ mode = "off" }: SandboxCeiling): boolean {
  return mode !== "off";
}

function noteExcess(
  change: SandboxChange,
  path: string | undefined,
  { ceiling, places, onExcess }: SandboxLimit,
): void {
  const { mode, network, write, whenUnavailable = "refuse" } = change;
  const isLoose = mode !== undefined && stricter(sandboxModes, mode, ceiling.mode) !== mode;
  if (isLoose) onExcess("sandbox.mode", path);
  else if (isManaged(ceiling) && whenUnavailable !== "refuse") onExcess("sandbox.mode", path);
  if (network !== undefined && ceiling.network !== undefined) {
    const common = commonNetwork(network, ceiling.network);
    if (JSON.stringify(common) !== JSON.stringify(network)) onExcess("sandbox.network", path);
  }
  if (write?.some((each) => !isWritable(each, ceiling, places)) === true) {
    onExcess("sandbox.write", path);
  }
}

function isWritable(path: string, { write }: SandboxCeiling, places: Places): boolean {
  const wanted = settingPath(path, places);
  return write?.some((each) => isInside(settingPath(each, places), wanted)) ?? true;
}

function limited(policy: SandboxPolicy, { ceiling, places }: SandboxLimit): SandboxPolicy {
  return {
    ...policy,
    mode: stricter(sandboxModes, policy.mode, ceiling.mode),
    network: commonNetwork(policy.network, ceiling.network ?? "all"),
    write: policy.write.filter((path) => isWritable(path, ceiling, places)),
    whenUnavailable: isManaged(ceiling) ? "refuse" : policy.whenUnavailable,
  };
}

/** Combines two limits into one that allows only what both allow. */
export function tightenCeiling(one: SandboxCeiling, other: SandboxCeiling): SandboxCeiling {
  const { mode = other.mode, network = other.network, write = other.write } = one;
  return {
    mode: mode && stricter(sandboxModes, mode, other.mode),
    network: network && commonNetwork(network, other.network ?? network),
    write: write && (other.write ? write.filter((path) => other.write?.includes(path)) : write),
  };
}

function readGiven(given: SandboxChange): SandboxChange {
  const { change, problems } = readSandbox(given, true);
  const [problem] = problems;
  if (problem === undefined) return change;
  const option = problem.field === "" ? "sandbox" : `sandbox.${problem.field}`;
  throw new SessionError("invalid_option", { option, reason: problem.reason });
}

/** Reads the members of a sandbox; invalid ones are left out and reported. */
function readSandbox(
  value: unknown,
  isLibrary = false,
): { change: SandboxChange; problems: readonly Problem[] } {
  if (value === undefined || value === null) return { change: {}, problems: [] };
  if (!isJsonObject(value)) {
    return { change: {}, problems: [{ field: "", reason: "expected an object" }] };
  }
  const problems: Problem[] = [];
  for (const name of Object.keys(value)) {
    if (members.includes(name)) continue;
    problems.push({
      field: name,
      reason: `there is no such setting; there are ${members.join(", ")}`,
    });
  }
  const change: SandboxChange = {
    mode: readWord("mode", value.mode, sandboxModes, problems),
    write: pathsOf("write", value.write, problems),
    denyRead: pathsOf("denyRead", value.denyRead, problems),
    network: networkOf(value.network, problems),
    whenUnavailable: readWord("whenUnavailable", value.whenUnavailable, fallbacks, problems),
    secrets: readSecrets(value.secrets, isLibrary, problems),
    upstreamCertificates: fileOf(value.upstreamCertificates, problems),
  };
  return { change, problems };
}

function fileOf(value: unknown, problems: Problem[]): string | undefined {
  if (value === undefined || value === null || typeof value === "string") return value ?? undefined;
  problems.push({ field: "upstreamCertificates", reason: "expected a path" });
  return undefined;
}

function joined(policy: SandboxPolicy, change: SandboxChange): SandboxPolicy {
  return {
    mode: change.mode ?? policy.mode,
    write: change.write ?? policy.write,
    denyRead: change.denyRead ?? policy.denyRead,
    network: change.network ?? policy.network,
    whenUnavailable: change.whenUnavailable ?? policy.whenUnavailable,
    secrets: change.secrets ?? policy.secrets,
    upstreamCertificates: change.upstreamCertificates ?? policy.upstreamCertificates,
  };
}

function pathsOf(
  field: string,
  value: unknown,
  problems: Problem[],
): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const isList =
    Array.isArray(value) && value.every((path) => typeof path === "string" && path !== "");
  if (isList && isExcess(value)) {
    problems.push({ field, reason: tooMany });
    // It is unknown which files must stay hidden.
    return field === "denyRead" ? ["."] : undefined;
  }
  if (isList) return value as string[];
  problems.push({ field, reason: "expected a list of paths" });
  return undefined;
}

/** More than a person would list: each entry takes time whenever a command starts. */
const MAX_ENTRIES = 1000;
const MAX_ENTRY = 4096;
const tooMany = `expected at most ${MAX_ENTRIES} entries of at most ${MAX_ENTRY} characters`;

function isExcess(value: readonly unknown[]): boolean {
  return value.length > MAX_ENTRIES || value.some((entry) => String(entry).length > MAX_ENTRY);
}

function networkOf(value: unknown, problems: Problem[]): SandboxNetwork | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === "off" || value === "all") return value;
  const isDomain = (name: unknown) => typeof name === "string" && /^(?:\*\.)?[^*\s/]+$/.test(name);
  if (Array.isArray(value) && isExcess(value)) {
    problems.push({ field: "network", reason: tooMany });
    return "off";
  }
  if (Array.isArray(value) && value.every(isDomain)) return value as string[];
  const reason = `expected "off", "all" or a list of domains such as "example.com" and "*.example.com", got ${JSON.stringify(value)}`;
  problems.push({ field: "network", reason });
  return undefined;
}

/** Applies what a project may do: restrict. */
function tightened(policy: SandboxPolicy, change: SandboxChange): SandboxPolicy {
  const { write, denyRead = [], network = policy.network } = change;
  return {
    mode: stricter(sandboxModes, policy.mode, change.mode),
    write: write === undefined ? policy.write : policy.write.filter((path) => write.includes(path)),
    denyRead: [...new Set([...policy.denyRead, ...denyRead])],
    network: commonNetwork(policy.network, network),
    secrets: policy.secrets,
    upstreamCertificates: policy.upstreamCertificates,
    whenUnavailable: stricter(
      [...fallbacks].reverse(),
      policy.whenUnavailable,
      change.whenUnavailable,
    ),
  };
}

/** The stricter of two words, from a list in ascending order of strictness. */
function stricter<Word>(words: readonly Word[], own: Word, other: Word | undefined): Word {
  return other !== undefined && words.indexOf(other) > words.indexOf(own) ? other : own;
}

function commonNetwork(own: SandboxNetwork, other: SandboxNetwork): SandboxNetwork {
  if (own === "off" || other === "off") return "off";
  if (own === "all") return other;
  if (other === "all") return own;
  const common = own.filter((domain) => coversDomain(other, domain));
  return [...new Set([...common, ...other.filter((domain) => coversDomain(own, domain))])];
}

/** The absolute path for a path in settings. */
export function settingPath(path: string, { cwd, homeDirectory }: Places): string {
  if (path === "~") return homeDirectory;
  if (path.startsWith("~/")) return join(homeDirectory, path.slice(2));
  return isAbsolute(path) ? resolve(path) : resolve(cwd, path);
}

function textOf({ field, reason }: Problem): string {
  return `${field === "" ? "sandbox" : `sandbox.${field}`}: ${reason}`;
}

function ignored(problem: Problem, path: string): Diagnostic {
  const message = `Invalid setting ${textOf(problem)}. The sandbox is read-only until it is corrected. (in ${path})`;
  return { severity: "error", code: "invalid_settings", message, path };
}
