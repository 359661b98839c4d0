import { type Diagnostic, SettingsStore } from "@tau-agent/system";
import type { Places } from "../options/places.ts";
import type { SessionSetup } from "../options/session-options.ts";
import { isStoreNamed } from "../options/session-place.ts";
import { storedFolder } from "../options/working-folder.ts";
import { keepTrustAcross, resolveProjectTrust, type TrustInput } from "./trust.ts";

/** The settings of a folder, before it is clear whether the project is trusted. */
export async function loadSettings(
  { settings }: SessionSetup,
  { agentDirectory, cwd }: Places,
): Promise<SettingsStore> {
  return settings ?? SettingsStore.load({ agentDirectory, cwd });
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
  },
): Promise<readonly Diagnostic[]> {
  if (options.settings !== undefined) return [];
  const { places, given, settings, askExtensions } = project;
  const { agentDirectory, cwd } = places;
  // A yes is for the folder of the start; a session file must not name another one for it.
  const isStart = cwd === given.cwd;
  const flag = isStart || options.trustProject === false ? options.trustProject : undefined;
  const trust = await resolveProjectTrust({
    agentDirectory,
    cwd,
    settings,
    flag,
    isSubagent: (options.taskDepth ?? 0) > 0,
    askExtensions,
  });
  // A rule that an answer saves must not make the project a changed one.
  if (trust.isTrusted) settings.trustProject((write) => keepTrustAcross(places, write));
  return trust.diagnostics;
}
