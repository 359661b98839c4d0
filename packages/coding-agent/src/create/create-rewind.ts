import { dirname, join } from "node:path";
import type { SettingsStore, ToolEnvironment } from "@tau-agent/system";
import { SessionRewind } from "@tau-agent/worktrees";
import type { SessionParts } from "../session/build-session.ts";
import { rewindSession } from "../session/rewind-session.ts";
import type { Places } from "./places.ts";
import type { CreateAgentSessionOptions } from "./session-options.ts";

/** What records the files of a session; nothing is loaded while it is off. */
export function createRewind(
  { rewind = {}, clientReady, taskDepth = 0 }: CreateAgentSessionOptions,
  surroundings: {
    readonly places: Places;
    readonly settings: SettingsStore;
    readonly toolEnvironment: ToolEnvironment;
    /** Called once the session is built. */
    readonly parts: () => SessionParts;
  },
): SessionRewind {
  const { places, settings, toolEnvironment: environment, parts } = surroundings;
  const { agentDirectory } = places;
  const created = new SessionRewind({
    environment,
    directory: join(agentDirectory, "rewind"),
    ownFolders: () => {
      const { path } = parts().conversation.log;
      const own = path === undefined ? [] : [dirname(path), path, `${path}.lock`];
      return [agentDirectory, ...own];
    },
    options: () => ({
      // What a subagent changes belongs to the prompt of its caller.
      enabled: taskDepth === 0 && (rewind.enabled ?? settings.get("rewind.enabled")),
      maxFileBytes: rewind.maxFileBytes ?? settings.get("rewind.maxFileBytes"),
      maxTotalBytes: rewind.maxTotalBytes ?? settings.get("rewind.maxTotalBytes"),
      keep: rewind.keep ?? settings.get("rewind.keep"),
    }),
    session: () => rewindSession(parts()),
    note: (diagnostic) => parts().problems.noteOnce(diagnostic),
  });
  if (clientReady !== undefined) void clientReady.then(() => created.recover());
  return created;
}
