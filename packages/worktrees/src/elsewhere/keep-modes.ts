import { posix } from "node:path";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { runThere } from "./run-there.ts";

/** What git gives to files of everyday masks; others would be lost. */
const usual = new Set([0o644, 0o755, 0o664, 0o775]);
/** More files than that are asked about one part after the other. */
const LOOKS = 200;

/**
 * Has files replaced by git, which knows only whether they are executable, and gives those their permissions
 * again that others may not read.
 *
 * @param paths - from the folder; a character stands for a byte
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
    // One that is gone by now needs none.
    const words = [mode.toString(8), ...names];
    await runThere({ workspace, cwd: folder, script, words }).catch(() => {});
  }
  return value;
}
