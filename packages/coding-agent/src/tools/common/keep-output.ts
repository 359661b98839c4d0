import { readFile, rm, stat } from "node:fs/promises";
import { basename, type PlatformPath } from "node:path";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";

interface Place {
  readonly workspace: Workspace;
  readonly homeDirectory: string;
  readonly path: PlatformPath;
}

/** A longer output stays with the host. */
const maxBytes = 256 * 1024 * 1024;

/**
 * Brings the file of a long output to its workspace, where the model's tools reach it and only the user reads
 * it. Where that fails, it stays on this machine.
 *
 * @returns its new path
 */
export async function keepOutputThere(file: string, place: Place): Promise<string> {
  const { workspace, homeDirectory, path } = place;
  const folder = path.join(homeDirectory, ".cache", "tau", "outputs");
  const target = path.join(folder, basename(file));
  try {
    const { size } = await stat(file);
    if (size > maxBytes) return file;
    await makePrivate(folder, place);
    await workspace.write(target, await readFile(file), { mode: 0o600 });
  } catch {
    return file;
  }
  await rm(file, { force: true }).catch(() => {});
  return target;
}

async function makePrivate(folder: string, { workspace, homeDirectory, path }: Place) {
  if (path.sep === "\\") return workspace.createDirectory(folder);
  const script = 'umask 077; mkdir -p "$1" && chmod 700 "${1%/*}"';
  const command = ["sh", "-c", script, "tau", folder];
  const { done } = await workspace.spawn({ command, cwd: homeDirectory, onOutput: () => {} });
  await done;
}
