import type { OpenOptions, SessionHome } from "@tau-agent/sessions/log";
import type { SettingsStore } from "@tau-agent/system";
import type { PromptResources } from "../resources/resources.ts";
import type { SessionInputs } from "../session/session-inputs.ts";
import type { WorkingFolder } from "./working-folder.ts";

/** What {@link sessionFolders} works with. */
interface FolderParts {
  readonly workingFolder: WorkingFolder;
  readonly settings: SettingsStore;
  readonly home: SessionHome;
  readonly openOptions: OpenOptions;
}

/** The place of the session's files, and the folder it works in. */
export function sessionFolders(
  { workingFolder, settings, home, openOptions }: FolderParts,
  resources: PromptResources,
): Pick<SessionInputs, "home" | "openLog" | "isProjectTrusted" | "enterFolder" | "createLog"> {
  return {
    home,
    openLog: (name) => home.openExisting(name, openOptions),
    isProjectTrusted: () => settings.isProjectTrusted && workingFolder.isHome,
    enterFolder: ({ header }) => {
      const { hasMoved, diagnostics } = workingFolder.enter(header);
      if (hasMoved) resources.reload();
      return { hasMoved, diagnostics };
    },
    createLog: ({ parentSession }) => home.create({ cwd: workingFolder.cwd, parentSession }),
  };
}
