import { realpathSync } from "node:fs";
import { join } from "node:path";

/** The folder of one working directory's sessions: the path with its separators as dashes. */
export function sessionDirectoryFor(agentDirectory: string, cwd: string): string {
  const safe = canonical(cwd)
    .replace(/^[/\\]/, "")
    .replace(/[/\\:]/g, "-");
  return join(agentDirectory, "sessions", `--${safe}--`);
}

/** The file name of a session that starts now. */
export function sessionFileName(timestamp: string, id: string): string {
  return `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`;
}

/** One directory has one folder, whichever link leads there. */
function canonical(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
