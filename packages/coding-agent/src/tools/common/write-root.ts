import { lstat, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { ToolError } from "@tau-agent/agent";
import { errorCode, isInside, type ToolEnvironment } from "@tau-agent/system";

/** As many links as systems follow. */
const MAX_LINKS = 40;

/**
 * Refuses to change a file that the sandbox closes, or outside of the tree in which an isolated subagent
 * works: what is written there would not come back as its work, and may be the caller's own. Links count as what they lead to.
 *
 * @throws {ToolError} the file is outside; names the link that leads there
 */
export async function refuseOutside(
  file: string,
  shown: string,
  { writeRoot, sandbox }: Pick<ToolEnvironment, "writeRoot" | "sandbox">,
): Promise<void> {
  sandbox?.refuseWrite(file, shown);
  const root = writeRoot?.();
  if (root === undefined) return;
  const target = await realTarget(file);
  if (isInside(root, target)) return;
  const link = isInside(root, file) ? await firstLink(root, file) : undefined;
  const why =
    link === undefined
      ? `it is outside of ${root}, the tree of this isolated task`
      : `${link} is a link that leads out of ${root}, the tree of this isolated task`;
  throw new ToolError(
    `Cannot write ${shown}: ${why} (to ${target}). Files outside can be read and not changed.`,
  );
}

/** Where a file is or will be, once links are followed. */
async function realTarget(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const code = errorCode(error) ?? "";
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
  }
  const link = await readlink(path).catch(() => undefined);
  if (link !== undefined && links < MAX_LINKS) {
    const folder = await realTarget(dirname(path), links + 1);
    return realTarget(resolve(folder, link), links + 1);
  }
  const folder = dirname(path);
  return folder === path ? path : join(await realTarget(folder, links), basename(path));
}

/** The first part of the way from a folder to a file that is a link out of the folder. */
async function firstLink(root: string, file: string): Promise<string | undefined> {
  let place = root;
  for (const part of relative(root, file).split(sep)) {
    place = join(place, part);
    const found = await lstat(place).catch(() => undefined);
    if (found?.isSymbolicLink() && !isInside(root, await realTarget(place))) {
      return relative(root, place);
    }
  }
  return undefined;
}
