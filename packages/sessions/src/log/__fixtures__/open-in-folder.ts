import { FileHome } from "../file-home.ts";
import { openSession } from "../open-session.ts";
import type { OpenedSession, SessionStart } from "../session-home.ts";

/** Opens a session of a project whose session files are in `directory`. */
export function openInFolder(
  start: SessionStart,
  { cwd, directory }: { readonly cwd: string; readonly directory: string },
): Promise<OpenedSession> {
  const home = new FileHome({ cwd }, { directoryOf: () => directory, root: directory });
  return openSession(start, home, { cwd });
}
