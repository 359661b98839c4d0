import { asOwnFile, type IsolatedCopy } from "./isolated-paths.ts";
import { type RealPaths, withSlashes } from "./real-paths.ts";
import type { RuleFolders } from "./rules/subject.ts";

export interface RulePlaces {
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[] | undefined;
  readonly homeDirectory: string;
  readonly copy?: (() => IsolatedCopy | undefined) | undefined;
}

export async function ruleFoldersOf(
  places: RulePlaces,
  realPaths: RealPaths,
): Promise<RuleFolders> {
  const { cwd, additionalDirectories = [], homeDirectory } = places;
  const copy = places.copy?.();
  const plain = (path: string) => withSlashes(path, realPaths.path);
  const [real, ...others] = await Promise.all([
    realPaths.ofFolder(cwd),
    ...additionalDirectories.map((folder) => realPaths.ofFolder(folder)),
  ]);
  const realCwd = plain(asOwnFile(real, copy));
  return {
    cwd: plain(asOwnFile(cwd, copy)),
    realCwd,
    realRoots: [realCwd, ...others.map(plain)],
    homeDirectory: plain(homeDirectory),
  };
}
