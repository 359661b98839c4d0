import { join } from "node:path";
import type { PromptResources } from "../resources/resources.ts";
import type { SessionInputs } from "../session/session-inputs.ts";
import { type OpenOptions, openExistingSession } from "../session-log/open-session.ts";
import { SessionLog } from "../session-log/session-log.ts";
import type { SettingsStore } from "../settings/store.ts";
import { type Places, sessionLogOptions } from "./places.ts";
import type { CreateAgentSessionOptions } from "./session-options.ts";
import type { WorkingFolder } from "./working-folder.ts";

/** What {@link sessionFolders} works with. */
interface FolderParts {
  readonly places: Places;
  readonly workingFolder: WorkingFolder;
  readonly settings: SettingsStore;
  readonly logOptions: OpenOptions;
}

/** The place of the session's files, and the folder it works in. */
export function sessionFolders(
  options: CreateAgentSessionOptions,
  { places, workingFolder, settings, logOptions }: FolderParts,
  resources: PromptResources,
): Pick<
  SessionInputs,
  | "store"
  | "sessionDirectory"
  | "sessionsRoot"
  | "openLog"
  | "isProjectTrusted"
  | "enterFolder"
  | "createLog"
> {
  return {
    store: logOptions.store,
    sessionDirectory: logOptions.directory,
    sessionsRoot: join(places.agentDirectory, "sessions"),
    openLog: (path) => openExistingSession(path, logOptions),
    isProjectTrusted: () => settings.isProjectTrusted && workingFolder.isHome,
    enterFolder: ({ header }) => {
      const { hasMoved, diagnostics } = workingFolder.enter(header);
      if (hasMoved) resources.reload();
      return { hasMoved, diagnostics };
    },
    createLog: ({ parentSession }) => {
      const { cwd } = workingFolder;
      const { store } = logOptions;
      if (store !== undefined) return SessionLog.create({ cwd, store, parentSession });
      const place = sessionLogOptions(options, { ...places, cwd }, settings);
      return SessionLog.create({ ...place, parentSession });
    },
  };
}
