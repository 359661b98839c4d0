import { asOwnFile, type IsolatedCopy } from "./isolated-paths.ts";
import { realPathOf } from "./real-path.ts";
import type { RuleFolders } from "./rules/subject.ts";

export interface RulePlaces {
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[] | undefined;
  readonly homeDirectory: string;
  readonly copy?: (() => IsolatedCopy | undefined) | undefined;
}

export function ruleFoldersOf(places: RulePlaces): RuleFolders {
  const { cwd, additionalDirectories = [], homeDirectory } = places;
  const copy = places.copy?.();
  const realCwd = asOwnFile(realPathOf(cwd), copy);
  return {
    cwd: asOwnFile(cwd, copy),
    realCwd,
    realRoots: [realCwd, ...additionalDirectories.map(realPathOf)],
    homeDirectory,
  };
}
