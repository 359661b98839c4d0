import { existsSync, readdirSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage, SessionError } from "@tau-agent/rpc-protocol/plain";
import {
  attempt,
  type Diagnostic,
  readJsonFile,
  type SettingsStore,
  withFileLock,
  writeFileAtomic,
} from "@tau-agent/system";
import { ancestorsOf } from "../../resources/files/places.ts";
import { compareTrusted, digestOf, keepTrusted, keepTrustedAcross } from "./trust-digest.ts";

/**
 * What decided about trust: a flag, the trust file, the user's setting, or the lack of anything to
 * decide.
 */
type TrustSource = "flag" | "extension" | "trust_file" | "setting" | "not_needed";

/** Whether code and settings of a project are loaded. */
export interface ProjectTrust {
  readonly isTrusted: boolean;
  readonly source: TrustSource;
  /** Files and folders of the project that need trust. */
  readonly gated: readonly string[];
  /** One that lists what was skipped without a decision; problems of the trust file. */
  readonly diagnostics: readonly Diagnostic[];
}

interface ExtensionsAnswer {
  readonly isTrusted: boolean;
  readonly remember: boolean;
}

export interface TrustInput {
  readonly agentDirectory: string;
  readonly cwd: string;
  readonly settings: Pick<SettingsStore, "getUserValue">;
  readonly flag?: boolean | undefined;
  /** A subagent's host: its flag is what the caller decided, about content that the caller saw. */
  readonly isSubagent?: boolean | undefined;
  /** The user's own extensions; the first yes or no counts. */
  readonly askExtensions?: (() => Promise<ExtensionsAnswer | undefined>) | undefined;
}

/** Files that run or steer code when loaded; skills, templates and context files are text. */
const gatedNames: ReadonlySet<string> = new Set([
  "settings.json",
  "omp.jsonc",
  "mcp.json",
  "extensions",
  // Installed packages bring extensions.
  "npm",
  "git",
]);

/** Text of which a part counts before trust: agents, without a model and without names of other agents. */
const partlyGatedNames: ReadonlySet<string> = new Set(["agents"]);

/** The project's files that need trust; `agent` is the older place for all of them. */
export function findGated(
  cwd: string,
  agentDirectory: string,
  names: ReadonlySet<string> = gatedNames,
): string[] {
  const dirs = [join(cwd, ".pi"), join(cwd, ".pi", "agent")].filter(
    (dir) => dir !== agentDirectory,
  );
  const standard = join(cwd, ".mcp.json");
  return [
    ...dirs
      // Synchronous, because every start waits for it, and the folder is small or missing.
      .flatMap((dir) => attempt(() => readdirSync(dir))?.map((name) => ({ dir, name })) ?? [])
      .filter(({ name }) => names.has(name))
      .map(({ dir, name }) => join(dir, name)),
    ...(existsSync(standard) ? [standard] : []),
  ].sort();
}

async function canonical(dir: string): Promise<string> {
  const path = await realpath(dir).catch(() => dir);
  // Windows ignores case in names, so the trust file must, too.
  return process.platform === "win32" ? path.toLowerCase() : path;
}

async function readDecision(
  path: string,
  cwd: string,
): Promise<{ decision: boolean | undefined; diagnostics: Diagnostic[] }> {
  const file = await readJsonFile(path);
  if (file.kind === "missing") return { decision: undefined, diagnostics: [] };
  // A damaged file may have contained a refusal.
  if (file.kind === "unreadable") return { decision: false, diagnostics: [file.diagnostic] };
  const isWindows = process.platform === "win32";
  const saved = new Map(
    Object.entries(file.value).map(([dir, value]) => [isWindows ? dir.toLowerCase() : dir, value]),
  );
  for (const dir of ancestorsOf(await canonical(cwd))) {
    const value = saved.get(dir);
    if (typeof value === "boolean") return { decision: value, diagnostics: [] };
  }
  return { decision: undefined, diagnostics: [] };
}

/**
 * Decides whether the project is trusted: by flag, extensions, the nearest decision in
 * `trust.json`, or the user's `defaultProjectTrust`. If nobody can be asked, undecided means no,
 * with one diagnostic that lists what was skipped. Never rejects.
 */
export async function resolveProjectTrust(input: TrustInput): Promise<ProjectTrust> {
  const { agentDirectory, cwd, settings, flag, askExtensions } = input;
  const gated = findGated(cwd, agentDirectory);
  const decided = (isTrusted: boolean, source: TrustSource, diagnostics: Diagnostic[] = []) => ({
    isTrusted,
    source,
    gated,
    diagnostics,
  });
  if (flag !== undefined) {
    if (flag && input.isSubagent !== true) await renew(input);
    return decided(flag, "flag");
  }
  if (loadedOf(input).length === 0) return decided(false, "not_needed");
  const answer = await askExtensions?.();
  if (answer !== undefined) {
    const problems = answer.remember ? await remember(input, answer.isTrusted) : [];
    return decided(answer.isTrusted, "extension", problems);
  }
  const { decision, diagnostics } = await readDecision(join(agentDirectory, "trust.json"), cwd);
  if (decision === true && (await hasChanged(input))) {
    const message = `What the trusted project in ${cwd} loads has changed, so this was left out: ${loadedOf(input).join(", ")}. Trust it again to load it as it is now.`;
    return decided(false, "trust_file", [leftOut(message, cwd)]);
  }
  if (decision !== undefined) return decided(decision, "trust_file", diagnostics);
  const fallback = settings.getUserValue("defaultProjectTrust");
  if (fallback !== "ask") return decided(fallback === "always", "setting");
  if (gated.length === 0) return decided(false, "setting");
  const message = `The project in ${cwd} is not trusted, so this was left out: ${gated.join(", ")}. Trust it to load it.`;
  return decided(false, "setting", [leftOut(message, cwd)]);
}

function leftOut(message: string, path: string): Diagnostic {
  return { severity: "warning", code: "project_untrusted", message, path };
}

/** Everything that a trusted project adds. */
function loadedOf({ agentDirectory, cwd }: { agentDirectory: string; cwd: string }): string[] {
  return findGated(cwd, agentDirectory, new Set([...gatedNames, ...partlyGatedNames]));
}

/** Whether a trusted project has changed since it was trusted; the first digest is kept. */
async function hasChanged(input: TrustInput): Promise<boolean> {
  const { agentDirectory, cwd, settings } = input;
  if (settings.getUserValue("projectTrustChanges") === "accept") return false;
  const project = await canonical(cwd);
  const digest = digestOf(loadedOf(input));
  const found = await compareTrusted(agentDirectory, project, digest);
  // If it cannot be kept, the next start counts as the first look again.
  if (found === "first") await keepTrusted(agentDirectory, project, digest).catch(() => {});
  return found === "changed";
}

/** Keeps what the user approves now, if the project is one whose trust is saved. */
async function renew(input: TrustInput): Promise<void> {
  const { agentDirectory, cwd } = input;
  const { decision } = await readDecision(join(agentDirectory, "trust.json"), cwd);
  if (decision !== true) return;
  await keepTrusted(agentDirectory, await canonical(cwd), digestOf(loadedOf(input))).catch(
    () => {},
  );
}

/**
 * Runs a write of the host's own into a project's files; the trust in what they were goes on.
 * What changed in any other way still has to be approved.
 */
export async function keepTrustAcross(
  folders: { readonly agentDirectory: string; readonly cwd: string },
  write: () => Promise<void>,
): Promise<void> {
  const { agentDirectory, cwd } = folders;
  const place = { agentDirectory, project: await canonical(cwd) };
  await keepTrustedAcross(place, () => digestOf(loadedOf(folders)), write);
}

/** Saves an extension's decision; a failure to save it does not change this start. */
async function remember(
  { agentDirectory, cwd }: TrustInput,
  decision: boolean,
): Promise<Diagnostic[]> {
  try {
    await saveProjectTrust(agentDirectory, cwd, decision);
    return [];
  } catch (error) {
    const reason = errorMessage(error);
    const message = `The decision about ${cwd} could not be saved: ${reason}`;
    return [{ severity: "warning", message, path: join(agentDirectory, "trust.json") }];
  }
}

/**
 * Saves a decision for a folder and everything below it; `undefined` removes it.
 * @throws {SessionError} `invalid_settings` if the trust file does not parse.
 */
export async function saveProjectTrust(
  agentDirectory: string,
  dir: string,
  decision: boolean | undefined,
): Promise<void> {
  const path = join(agentDirectory, "trust.json");
  const key = await canonical(dir);
  await withFileLock(path, async (target) => {
    const file = await readJsonFile(target);
    if (file.kind === "unreadable") {
      const { message } = file.diagnostic;
      throw new SessionError("invalid_settings", { path, reason: message });
    }
    const entries = new Map(Object.entries(file.kind === "object" ? file.value : {}));
    if (decision === undefined) entries.delete(key);
    else entries.set(key, decision);
    await writeFileAtomic(target, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
  });
  if (decision === true) {
    await keepTrusted(agentDirectory, key, digestOf(loadedOf({ agentDirectory, cwd: dir })));
  }
}
