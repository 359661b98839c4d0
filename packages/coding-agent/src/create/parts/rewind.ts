import { dirname, join } from "node:path";
import type { ToolEnvironment } from "@tau-agent/system";
import { SessionRewind } from "@tau-agent/worktrees";
import { rewindSession } from "../../session/rewind-session.ts";
import type { SessionDraft } from "./session-draft.ts";

/** Records the files of a session; nothing is loaded while this is off. */
export function createRewind(draft: SessionDraft, environment: ToolEnvironment): SessionRewind {
  const { places, settings, options, workspace } = draft.surroundings;
  const { rewind = {}, clientReady, taskDepth = 0 } = options;
  const { agentDirectory } = places;
  const created = new SessionRewind({
    environment,
    elsewhere: workspace,
    directory: join(agentDirectory, "rewind"),
    ownFolders: () => {
      const { path } = draft.parts.conversation.log;
      const own = path === undefined ? [] : [dirname(path), path, `${path}.lock`];
      return [agentDirectory, ...own];
    },
    options: () => ({
      // Changes by a subagent belong to its caller's prompt.
      enabled: taskDepth === 0 && (rewind.enabled ?? settings.get("rewind.enabled")),
      maxFileBytes: rewind.maxFileBytes ?? settings.get("rewind.maxFileBytes"),
      maxTotalBytes: rewind.maxTotalBytes ?? settings.get("rewind.maxTotalBytes"),
      keep: rewind.keep ?? settings.get("rewind.keep"),
    }),
    session: () => rewindSession(draft.parts),
    note: (diagnostic) => draft.parts.problems.noteOnce(diagnostic),
  });
  if (clientReady !== undefined) void clientReady.then(() => created.recover());
  return created;
}
