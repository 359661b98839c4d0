import nodePath, { type PlatformPath } from "node:path";
import { askEach, type Disk, entriesOf, hostDisk, lookAt } from "../../resources/files/disk.ts";

/** A project, and the user whose trust it needs. */
export interface TrustPlace {
  readonly agentDirectory: string;
  readonly cwd: string;
  /** The disk of the project; by default this machine's. */
  readonly disk?: Disk | undefined;
}

/** Files that run or steer code when loaded; skills, templates and context files are text. */
const gatedNames = ["mcp.json", "omp.jsonc", "settings.json"];

/** Code, also in installed packages. It runs on this machine, so that of a project elsewhere is not loaded. */
const codeNames = ["extensions", "git", "npm"];

/** Text of which a part counts before trust: agents, without a model and without names of other agents. */
const partlyGatedNames = ["agents"];

/** What there is in a project that needs trust. */
export interface GatedFiles {
  readonly gated: readonly string[];
  /** Everything that a trusted project adds. */
  readonly loaded: readonly string[];
  /** Code that is not loaded, trusted or not. */
  readonly leftOut: readonly string[];
}

const standardMcp = ".mcp.json";

/** Paths that need trust if anything is there. */
export function gatedPaths(place: TrustPlace): string[] {
  const { join } = pathsOf(place);
  return [
    ...foldersOf(place).flatMap((dir) => namesOf(place).map((name) => join(dir, name))),
    join(place.cwd, standardMcp),
  ];
}

/** Looks for what needs trust; every start waits for it. */
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
  // A folder of the project may have a file of this name, which is another.
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

/** `agent` is the older place for everything. */
function foldersOf(place: TrustPlace): string[] {
  const { agentDirectory, cwd, disk } = place;
  const { join } = pathsOf(place);
  const dirs = [join(cwd, ".pi"), join(cwd, ".pi", "agent")];
  return disk === undefined ? dirs.filter((dir) => dir !== agentDirectory) : dirs;
}

function pathsOf({ disk }: TrustPlace): PlatformPath {
  return disk?.path ?? nodePath;
}
