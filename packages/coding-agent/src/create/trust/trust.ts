import { realpath } from "node:fs/promises";
import nodePath, { join } from "node:path";
import { errorMessage, SessionError } from "@tau-agent/rpc-protocol/plain";
import {
  type Diagnostic,
  readJsonFile,
  type SettingsStore,
  withFileLock,
  writeFileAtomic,
} from "@tau-agent/system";
import type { Disk } from "../../resources/files/disk.ts";
import { farLayoutOf } from "../../resources/files/far-layout.ts";
import { ancestorsOf } from "../../resources/files/places.ts";
import { type GatedFiles, lookForGated, type TrustPlace } from "./gated-files.ts";
import {
  compareTrusted,
  type DigestPlace,
  digestOf,
  keepTrusted,
  keepTrustedAcross,
} from "./trust-digest.ts";

/** The source of a trust decision: a flag, the trust file, the user's setting, or nothing that needs trust. */
type TrustSource = "flag" | "extension" | "trust_file" | "setting" | "not_needed";

/** Whether code and settings of a project are loaded. */
export interface ProjectTrust {
  readonly isTrusted: boolean;
  readonly source: TrustSource;
  /** Files and folders of the project that need trust. */
  readonly gated: readonly string[];
  /** A diagnostic that lists what was left out without a decision, and problems of the trust file. */
  readonly diagnostics: readonly Diagnostic[];
}

interface ExtensionsAnswer {
  readonly isTrusted: boolean;
  readonly remember: boolean;
}

export interface TrustInput extends TrustPlace {
  /** The files that need trust, if they are already known. */
  readonly files?: Promise<GatedFiles> | undefined;
  readonly settings: Pick<SettingsStore, "getUserValue">;
  readonly flag?: boolean | undefined;
  /** Whether this is a subagent's host: its flag is the caller's decision, about content that the caller saw. */
  readonly isSubagent?: boolean | undefined;
  /** The user's own extensions; the first yes or no wins. */
  readonly askExtensions?: (() => Promise<ExtensionsAnswer | undefined>) | undefined;
}

/**
 * The files that store decisions. Projects in other places have their own files, because other programs read
 * `trust.json`.
 */
function filesOf({ agentDirectory, disk }: TrustPlace): { decisions: string; digests: string } {
  const prefix = disk === undefined ? "" : "workspace-";
  return {
    decisions: join(agentDirectory, `${prefix}trust.json`),
    digests: join(agentDirectory, `${prefix}trust-digests.json`),
  };
}

/** The key of a folder in the files: with its workspace, unless it is on this machine. */
function keyOf({ disk }: TrustPlace, dir: string): string {
  return disk === undefined ? dir : `${disk.id}:${dir}`;
}

async function digestPlace(place: TrustPlace): Promise<DigestPlace> {
  return { digests: filesOf(place).digests, project: keyOf(place, await canonical(place)) };
}

async function canonical({ cwd, disk }: TrustPlace): Promise<string> {
  const path = await (disk === undefined
    ? realpath(cwd).catch(() => cwd)
    : realPathThere(disk, cwd));
  // Windows ignores case in paths, so the keys must, too.
  return ignoresCase({ disk }) ? path.toLowerCase() : path;
}

async function realPathThere(disk: Disk, cwd: string): Promise<string> {
  const { folders } = await farLayoutOf(disk, cwd);
  return folders[0]?.realPath ?? cwd;
}

function ignoresCase({ disk }: Pick<TrustPlace, "disk">): boolean {
  return disk === undefined ? process.platform === "win32" : disk.path.sep === "\\";
}

async function readDecision(
  place: TrustPlace,
): Promise<{ decision: boolean | undefined; diagnostics: Diagnostic[] }> {
  const file = await readJsonFile(filesOf(place).decisions);
  if (file.kind === "missing") return { decision: undefined, diagnostics: [] };
  // A damaged file may have contained a refusal.
  if (file.kind === "unreadable") return { decision: false, diagnostics: [file.diagnostic] };
  const prefix = keyOf(place, "");
  const isFolded = ignoresCase(place);
  const saved = new Map(
    Object.entries(file.value)
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, value]) => [key.slice(prefix.length), value] as const)
      .map(([dir, value]) => [isFolded ? dir.toLowerCase() : dir, value]),
  );
  for (const dir of ancestorsOf(await canonical(place), place.disk?.path ?? nodePath)) {
    const value = saved.get(dir);
    if (typeof value === "boolean") return { decision: value, diagnostics: [] };
  }
  return { decision: undefined, diagnostics: [] };
}

/**
 * Decides whether the project is trusted: by flag, extensions, the nearest decision in `trust.json`, or the user's
 * `defaultProjectTrust`. Without a decision the answer is no, with one diagnostic that lists what was left out.
 *
 * @throws {WorkspaceError} when the project cannot be reached
 */
export async function resolveProjectTrust(input: TrustInput): Promise<ProjectTrust> {
  const { cwd, settings, flag, askExtensions } = input;
  const { gated, loaded } = await (input.files ?? lookForGated(input));
  const decided = (isTrusted: boolean, source: TrustSource, diagnostics: Diagnostic[] = []) => ({
    isTrusted,
    source,
    gated,
    diagnostics,
  });
  if (flag !== undefined) {
    if (flag && input.isSubagent !== true) await renew(input, loaded);
    return decided(flag, "flag");
  }
  if (loaded.length === 0) return decided(false, "not_needed");
  const answer = await askExtensions?.();
  if (answer !== undefined) {
    const problems = answer.remember ? await remember(input, answer.isTrusted) : [];
    return decided(answer.isTrusted, "extension", problems);
  }
  const { decision, diagnostics } = await readDecision(input);
  if (decision === true && (await hasChanged(input, loaded))) {
    const message = `What the trusted project in ${cwd} loads has changed, so this was left out: ${loaded.join(", ")}. Trust it again to load it as it is now.`;
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

/** Whether a project has changed since it was trusted; the first digest is stored. */
async function hasChanged(input: TrustInput, loaded: readonly string[]): Promise<boolean> {
  if (input.settings.getUserValue("projectTrustChanges") === "accept") return false;
  const [place, digest] = await Promise.all([digestPlace(input), digestOf(loaded, input.disk)]);
  const found = await compareTrusted(place, digest);
  // If storing fails, the next start counts as the first again.
  if (found === "first") await keepTrusted(place, digest).catch(() => {});
  return found === "changed";
}

/** Stores the approved content, if the trust in the project is saved. */
async function renew(input: TrustInput, loaded: readonly string[]): Promise<void> {
  const { decision } = await readDecision(input);
  if (decision !== true) return;
  const digest = await digestOf(loaded, input.disk);
  await keepTrusted(await digestPlace(input), digest).catch(() => {});
}

/** The digest of the files that a project loads now. */
async function currentDigest(place: TrustPlace): Promise<string> {
  return digestOf((await lookForGated(place)).loaded, place.disk);
}

/**
 * Runs the host's own write to a project's files and keeps the trust in the project. Other changes
 * must still be approved.
 */
export async function keepTrustAcross(
  place: TrustPlace,
  write: () => Promise<void>,
): Promise<void> {
  await keepTrustedAcross(await digestPlace(place), () => currentDigest(place), write);
}

/** Saves an extension's decision; if that fails, this start still uses the decision. */
async function remember(input: TrustInput, decision: boolean): Promise<Diagnostic[]> {
  const { agentDirectory, cwd, disk } = input;
  try {
    await saveProjectTrust(agentDirectory, cwd, decision, disk);
    return [];
  } catch (error) {
    const reason = errorMessage(error);
    const message = `The decision about ${cwd} could not be saved: ${reason}`;
    return [{ severity: "warning", message, path: filesOf(input).decisions }];
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
  disk?: TrustPlace["disk"],
): Promise<void> {
  const place = { agentDirectory, cwd: dir, disk };
  const path = filesOf(place).decisions;
  const key = keyOf(place, await canonical(place));
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
  if (decision === true) await keepTrusted(await digestPlace(place), await currentDigest(place));
}
