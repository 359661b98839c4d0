import { posix } from "node:path";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { runThere } from "./run-there.ts";

/** The modes that git sets with common umasks; other modes would be lost. */
const usual = new Set([0o644, 0o755, 0o664, 0o775]);
/** The modes of more files than this are read in several parts. */
const LOOKS = 200;

/**
 * Restores unusual permissions, such as those of private files, after git has replaced the files: git only
 * knows whether a file is executable.
 *
 * @param paths - relative to the folder, one character per byte
 */
export async function keepingModes<Value>(
  { workspace, folder }: { readonly workspace: Workspace; readonly folder: string },
  paths: readonly string[],
  replace: () => Promise<Value>,
): Promise<Value> {
  const byMode = new Map<number, string[]>();
  for (let at = 0; at < paths.length; at += LOOKS) {
    const names = paths.slice(at, at + LOOKS).map((path) => Buffer.from(path, "latin1").toString());
    const found = await Promise.all(
      names.map((name) => workspace.stat(posix.join(folder, name), { followLinks: false })),
    );
    for (const [index, { kind, mode } = {} as never] of found.entries()) {
      if (kind !== "file" || mode === undefined || usual.has(mode & 0o777)) continue;
      const own = mode & 0o777;
      byMode.set(own, [...(byMode.get(own) ?? []), names[index] ?? ""]);
    }
  }
  const value = await replace();
  for (const [mode, names] of byMode) {
    const script = 'mode=$1; shift; chmod "$mode" -- "$@"';
    // A file that is gone by now needs no mode.
    const words = [mode.toString(8), ...names];
    await runThere({ workspace, cwd: folder, script, words }).catch(() => {});
  }
  return value;
}
