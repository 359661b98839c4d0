import type { PromptResources } from "../../resources/resources.ts";
import type { SessionInputs } from "../../session/session-inputs.ts";
import type { SessionDraft } from "./session-draft.ts";

/** The folder of the session's files, and the folder it works in. */
export function sessionFolders(
  { surroundings: { places, workingFolder, settings, home, openOptions } }: SessionDraft,
  resources: PromptResources,
): Pick<
  SessionInputs,
  "home" | "folderHere" | "openLog" | "isProjectTrusted" | "enterFolder" | "createLog"
> {
  return {
    home,
    folderHere: places.workspaceId === undefined ? undefined : places.baseDirectory,
    openLog: (name) => home.openExisting(name, openOptions),
    isProjectTrusted: () => settings.isProjectTrusted && workingFolder.isHome,
    enterFolder: ({ header }) => {
      const { hasMoved, diagnostics } = workingFolder.enter(header);
      if (hasMoved) resources.reload();
      return { hasMoved, diagnostics };
    },
    createLog: ({ parentSession }) =>
      home.create({
        cwd: workingFolder.cwd,
        workspaceId: openOptions.workspaceId,
        parentSession,
      }),
  };
}
