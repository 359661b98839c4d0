import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { type Diagnostic, SettingsStore } from "@tau-agent/system";
import type { Disk } from "../../resources/files/disk.ts";
import type { Places } from "../options/places.ts";
import type { SessionSetup } from "../options/session-options.ts";
import { isStoreNamed } from "../options/session-place.ts";
import { storedFolder } from "../options/working-folder.ts";
import type { GatedFiles } from "./gated-files.ts";
import { keepTrustAcross, resolveProjectTrust, type TrustInput } from "./trust.ts";

/** Where a project is that is not on this machine. */
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

/** The folder a session of a file belongs to; what is in a store goes on in the folder of the start. */
export async function folderOfSession(
  options: SessionSetup,
  given: Places,
  untrusted: SettingsStore,
): ReturnType<typeof storedFolder> {
  const settings = await trustedSettings(options, given, untrusted);
  return isStoreNamed(options, settings) ? undefined : storedFolder(options, given, settings);
}

/**
 * The settings of the folder of the start, to find a session by its id: a trusted project may keep
 * its sessions elsewhere. The session's own folder is trusted or not for itself.
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

/** Decides whether the project is trusted, and lets its settings count if it is. */
export async function decideTrust(
  options: SessionSetup,
  project: {
    readonly places: Places;
    readonly given: Places;
    readonly settings: SettingsStore;
    readonly askExtensions?: TrustInput["askExtensions"];
    /** The disk of a project that is not on this machine, and what there is. */
    readonly disk?: Disk | undefined;
    readonly files?: Promise<GatedFiles> | undefined;
  },
): Promise<readonly Diagnostic[]> {
  if (options.settings !== undefined) return [];
  const { places, given, settings, askExtensions, disk, files } = project;
  const { agentDirectory, cwd } = places;
  // A yes is for the folder of the start; a session file must not name another one for it.
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
  // A rule that an answer saves must not make the project a changed one.
  const place = { agentDirectory, cwd, disk };
  if (trust.isTrusted) settings.trustProject((write) => keepTrustAcross(place, write));
  return [...trust.diagnostics, ...codeElsewhere(project, (await files)?.leftOut ?? [])];
}

/** Extensions run on this machine, with what the user has here; nothing is copied here to run. */
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
