import nodePath from "node:path";
import type { WorkspaceStat } from "@tau-agent/rpc-protocol/workspace";
import { askEach, type Disk, hostDisk, lookAt } from "../../resources/files/disk.ts";

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

interface Candidate {
  readonly path: string;
  readonly name: string;
}

/** Paths that need trust if anything is there. */
export function gatedPaths(place: TrustPlace): string[] {
  return [
    ...foldersOf(place).flatMap((dir) => candidatesIn(place, dir, namesOf(place.disk))),
    standardMcp(place),
  ].map(({ path }) => path);
}

/** Looks for what needs trust; every start waits for it. */
export async function lookForGated(place: TrustPlace): Promise<GatedFiles> {
  const disk = place.disk ?? hostDisk("");
  const folders = askEach(foldersOf(place), disk, (dir) => candidatesThere(place, disk, dir));
  const mcp = standardMcp(place);
  const looked = askEach([mcp.path], disk, (path) => lookAt(disk, path));
  const found: Candidate[] = [];
  for (const folder of folders) found.push(...(await folder()));
  if ((await looked[0]?.()) !== undefined) found.push(mcp);
  found.sort((a, b) => (a.path < b.path ? -1 : 1));
  const named = (names: readonly string[]) =>
    found.filter(({ name }) => names.includes(name)).map(({ path }) => path);
  const gated = namesOf(place.disk);
  return {
    gated: named([...gated, mcp.name]),
    loaded: named([...gated, mcp.name, ...partlyGatedNames]),
    leftOut: place.disk === undefined ? [] : named(codeNames),
  };
}

function namesOf(disk: Disk | undefined): readonly string[] {
  return disk === undefined ? [...gatedNames, ...codeNames] : gatedNames;
}

/** `agent` is the older place for everything. */
function foldersOf({ agentDirectory, cwd, disk }: TrustPlace): string[] {
  const { join } = disk?.path ?? nodePath;
  const dirs = [join(cwd, ".pi"), join(cwd, ".pi", "agent")];
  return disk === undefined ? dirs.filter((dir) => dir !== agentDirectory) : dirs;
}

function candidatesIn(
  { disk }: TrustPlace,
  dir: string,
  names: readonly string[],
): readonly Candidate[] {
  const { join } = disk?.path ?? nodePath;
  return names.map((name) => ({ path: join(dir, name), name }));
}

function standardMcp({ cwd, disk }: TrustPlace): Candidate {
  return { path: (disk?.path ?? nodePath).join(cwd, ".mcp.json"), name: ".mcp.json" };
}

/** Those of a folder that exist, dangling links, too: tomorrow they may lead somewhere. */
async function candidatesThere(
  place: TrustPlace,
  disk: Disk,
  dir: string,
): Promise<readonly Candidate[]> {
  if (!disk.isFar && (await lookAt(disk, dir)) === undefined) return [];
  const names = [...gatedNames, ...codeNames, ...partlyGatedNames];
  const candidates = candidatesIn(place, dir, names);
  const looks: (() => Promise<WorkspaceStat | undefined>)[] = askEach(
    candidates,
    disk,
    ({ path }) => lookAt(disk, path, { followLinks: false }),
  );
  const found: Candidate[] = [];
  for (const [index, candidate] of candidates.entries()) {
    if ((await looks[index]?.()) !== undefined) found.push(candidate);
  }
  return found;
}
