import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { type Diagnostic, SettingsStore } from "@tau-agent/system";
import type { Disk } from "../../resources/files/disk.ts";
import type { Places } from "../options/places.ts";
import type { SessionSetup } from "../options/session-options.ts";
import { isStoreNamed } from "../options/session-place.ts";
import { storedFolder } from "../options/working-folder.ts";
import type { GatedFiles } from "./gated-files.ts";
import { keepTrustAcross, resolveProjectTrust, type TrustInput } from "./trust.ts";

/** The location of a project that is not on this machine. */
export interface ProjectElsewhere {
  readonly workspace: Workspace;
  readonly disk: Disk;
}

/** The settings of a folder, before it is clear whether the project is trusted. */
export async function loadSettings(
  { settings }: SessionSetup,
  { agentDirectory, cwd }: Places,
  elsewhere?: ProjectElsewhere,
): Promise<SettingsStore> {
  const workspace = elsewhere && { files: elsewhere.workspace, path: elsewhere.disk.path };
  return settings ?? SettingsStore.load({ agentDirectory, cwd, workspace });
}

/** The folder of a session in a file; a session in a store continues in the folder of the start. */
export async function folderOfSession(
  options: SessionSetup,
  given: Places,
  untrusted: SettingsStore,
): ReturnType<typeof storedFolder> {
  const settings = await trustedSettings(options, given, untrusted);
  return isStoreNamed(options, settings) ? undefined : storedFolder(options, given, settings);
}

/**
 * The settings of the start folder, which are needed to find a session by its id: a trusted project
 * may store its sessions elsewhere. Trust in the session's own folder is decided separately.
 */
async function trustedSettings(
  options: SessionSetup,
  places: Places,
  untrusted: SettingsStore,
): Promise<SettingsStore> {
  const { session } = options;
  if (session?.kind !== "file" || session.goesToItsFolder !== true) return untrusted;
  const settings = await loadSettings(options, places);
  await decideTrust(options, { places, given: places, settings });
  return settings;
}

/** Decides whether the project is trusted, and applies its settings if it is. */
export async function decideTrust(
  options: SessionSetup,
  project: {
    readonly places: Places;
    readonly given: Places;
    readonly settings: SettingsStore;
    readonly askExtensions?: TrustInput["askExtensions"];
    /** The disk of a remote project, and its files that need trust. */
    readonly disk?: Disk | undefined;
    readonly files?: Promise<GatedFiles> | undefined;
  },
): Promise<readonly Diagnostic[]> {
  if (options.settings !== undefined) return [];
  const { places, given, settings, askExtensions, disk, files } = project;
  const { agentDirectory, cwd } = places;
  // A yes applies to the start folder; a session file must not redirect it to another one.
  const isStart = cwd === given.cwd;
  const flag = isStart || options.trustProject === false ? options.trustProject : undefined;
  const trust = await resolveProjectTrust({
    agentDirectory,
    cwd,
    disk,
    files,
    settings,
    flag,
    isSubagent: (options.taskDepth ?? 0) > 0,
    askExtensions,
  });
  // Saving the rule of an answer must not revoke the trust in the project.
  const place = { agentDirectory, cwd, disk };
  if (trust.isTrusted) settings.trustProject((write) => keepTrustAcross(place, write));
  return [...trust.diagnostics, ...codeElsewhere(project, (await files)?.leftOut ?? [])];
}

/** Diagnostics for remote extensions: extensions run on this machine, and no code is copied here to run. */
function codeElsewhere(
  {
    settings,
    places: { cwd },
    disk,
  }: { settings: SettingsStore; places: Places; disk?: Disk | undefined },
  found: readonly string[],
): readonly Diagnostic[] {
  const named = settings.foreignCode.map(({ entry }) =>
    typeof entry === "string" ? entry : entry.source,
  );
  const all = [...found, ...named];
  if (disk === undefined || all.length === 0) return [];
  const message = `The project is in the workspace ${disk.id}, and extensions run on this machine. So its extensions and packages are not loaded: ${all.join(", ")}. Install what you need for yourself.`;
  return [{ severity: "warning", code: "extensions_elsewhere", message, path: cwd }];
}
