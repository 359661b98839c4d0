import type { EnclosedFolder, ProtectedFiles, Sandbox, ToolEnvironment } from "@tau-agent/system";
import { settleSandbox } from "@tau-agent/system/sandbox-settings";
import { localWorkspace } from "../../tools/common/local-place.ts";
import type { Durability } from "./durability.ts";
import { openSandboxIn } from "./sandbox.ts";
import type { SessionDraft } from "./session-draft.ts";

export interface FolderParts {
  readonly cwd: string;
  /** The session's sandbox. */
  readonly sandbox: Sandbox;
  readonly protectedFiles: ProtectedFiles;
  readonly fileQueue: ToolEnvironment["fileQueue"];
  readonly durability: Durability | undefined;
}

/** Opens a sandbox around another folder, in the form that a subagent in it gets. */
export async function encloseFolder(
  draft: SessionDraft,
  { cwd, sandbox: own, protectedFiles, fileQueue, durability }: FolderParts,
): Promise<EnclosedFolder> {
  const { surroundings, keys } = draft;
  const { places, settings, environment, processes } = surroundings;
  const { policy } = settleSandbox([], { isProjectTrusted: false, given: own.inherited });
  const opened = await openSandboxIn(surroundings, policy, () => cwd);
  const { sandbox, secrets } = opened;
  secrets?.listen({
    note: (found) => draft.parts.problems.noteOnce(found),
    noteSecret: keys.noteSecret,
  });
  const here = () =>
    localWorkspace({
      ...{ cwd, homeDirectory: places.homeDirectory, fileQueue, environment, processes },
      ...{ sandbox, protectedFiles, shellPath: settings.get("shellPath") },
    });
  const workspace = opened.workspace ?? here();
  const owned = durability?.own({ workspace }).workspace ?? workspace;
  return { workspace: owned, sandbox, close: () => sandbox.close() };
}
