import { realpathSync } from "node:fs";
import { join } from "node:path";

const MAX_NAME = 240;

/**
 * The folder of one working directory's sessions: the path with dashes as separators, after the id
 * of its workspace unless that is the host's own machine.
 */
export function sessionDirectoryFor(
  agentDirectory: string,
  { cwd, workspaceId }: { readonly cwd: string; readonly workspaceId?: string | undefined },
): string {
  const path = workspaceId === undefined ? canonical(cwd) : cwd;
  const safe = path.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-");
  const prefix = workspaceId ?? "";
  return join(agentDirectory, "sessions", `${prefix}--${shortened(safe, prefix.length)}--`);
}

/** Most file systems allow names of up to 255 bytes; a longer name keeps its beginning and gets a hash. */
function shortened(name: string, taken: number): string {
  const bytes = Buffer.from(name);
  const most = MAX_NAME - taken;
  if (bytes.length <= most) return name;
  // Loaded only for long names, because it would slow down every start (row `start`).
  const { createHash } = process.getBuiltinModule("node:crypto");
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 32);
  // A character that is cut in half is dropped.
  const start = new TextDecoder().decode(bytes.subarray(0, most - hash.length - 4));
  return `${start.replace(/\uFFFD+$/, "")}-${hash}`;
}

/** The file name of a session that starts now. */
export function sessionFileName(timestamp: string, id: string): string {
  return `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`;
}

/** Resolves links, so that each directory has only one folder. */
function canonical(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
