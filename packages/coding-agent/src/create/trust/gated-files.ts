import nodePath, { type PlatformPath } from "node:path";
import { askEach, type Disk, entriesOf, hostDisk, lookAt } from "../../resources/files/disk.ts";

/** A project, and the user who may trust it. */
export interface TrustPlace {
  readonly agentDirectory: string;
  readonly cwd: string;
  /** The disk of the project. Default: this machine's. */
  readonly disk?: Disk | undefined;
}

/** Files that run or steer code when loaded; skills, templates and context files are text. */
const gatedNames = ["mcp.json", "omp.jsonc", "settings.json"];

/** Code, also in installed packages. It would run on this machine, so code of a remote project is not loaded. */
const codeNames = ["extensions", "git", "npm"];

/** Text that applies partly before trust: agents, without their model and without the names of other agents. */
const partlyGatedNames = ["agents"];

/** The files of a project that need trust. */
export interface GatedFiles {
  readonly gated: readonly string[];
  /** Everything that is loaded from a trusted project. */
  readonly loaded: readonly string[];
  /** Code that is not loaded, whether the project is trusted or not. */
  readonly leftOut: readonly string[];
}

const standardMcp = ".mcp.json";

/** Paths that need trust if they exist. */
export function gatedPaths(place: TrustPlace): string[] {
  const { join } = pathsOf(place);
  return [
    ...foldersOf(place).flatMap((dir) => namesOf(place).map((name) => join(dir, name))),
    join(place.cwd, standardMcp),
  ];
}

/** Looks for files that need trust; every start waits for this. */
export async function lookForGated(place: TrustPlace): Promise<GatedFiles> {
  const disk = place.disk ?? hostDisk("");
  const { join } = disk.path;
  const listed = askEach(foldersOf(place), disk, async (dir) =>
    (await entriesOf(disk, dir)).map(({ name }) => ({ path: join(dir, name), name })),
  );
  const mcp = { path: join(place.cwd, standardMcp), name: standardMcp };
  const looked = askEach([mcp.path], disk, (path) => lookAt(disk, path));
  const found: { readonly path: string; readonly name: string }[] = [];
  for (const folder of listed) found.push(...(await folder()));
  // A subfolder of the project may contain another file of the same name.
  const inFolders = found.filter(({ name }) => name !== standardMcp);
  const all = (await looked[0]?.()) === undefined ? inFolders : [...inFolders, mcp];
  const named = (names: readonly string[]) =>
    all
      .filter(({ name }) => names.includes(name))
      .map(({ path }) => path)
      .sort();
  const gated = [...namesOf(place), standardMcp];
  return {
    gated: named(gated),
    loaded: named([...gated, ...partlyGatedNames]),
    leftOut: place.disk === undefined ? [] : named(codeNames),
  };
}

function namesOf({ disk }: TrustPlace): readonly string[] {
  return disk === undefined ? [...gatedNames, ...codeNames] : gatedNames;
}

/** The folders with project files; `agent` is the older name. */
function foldersOf(place: TrustPlace): string[] {
  const { agentDirectory, cwd, disk } = place;
  const { join } = pathsOf(place);
  const dirs = [join(cwd, ".pi"), join(cwd, ".pi", "agent")];
  return disk === undefined ? dirs.filter((dir) => dir !== agentDirectory) : dirs;
}

function pathsOf({ disk }: TrustPlace): PlatformPath {
  return disk?.path ?? nodePath;
}
