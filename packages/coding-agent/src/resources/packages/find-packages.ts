import { join } from "node:path";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import {
  type Diagnostic,
  readJsonFile,
  type SettingsScope,
  type SettingsStore,
} from "@tau-agent/system";
import { kindHere } from "../files/kind-here.ts";
import type { ResourceDirs } from "../files/places.ts";
import { type PackageOrigin, parsePackageSource } from "./package-source.ts";
import { createOptInFilter, createResourceFilter, type FileTest } from "./resource-filter.ts";

/** The kinds of resources in a package, which are also the names of its folders and of its manifest's lists. */
export type ResourceKind = "extensions" | "skills" | "prompts";

export interface PackagePart {
  /** Absolute files, folders and globs; they may not exist. */
  readonly places: readonly string[];
  readonly includes: FileTest;
}

/** An installed package. */
export interface InstalledPackage {
  /** The source as written in the setting. */
  readonly source: string;
  readonly scope: SettingsScope;
  /** Its folder; a file for a single extension. */
  readonly root: string;
  readonly parts: Readonly<Record<ResourceKind, PackagePart>>;
}

/** The packages in use, the project's first, and the problems of others. */
export interface FoundPackages {
  readonly packages: readonly InstalledPackage[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface PackageDirs extends Omit<ResourceDirs, "disk"> {
  /** Whether the project is on another machine, so that its packages are ignored. */
  readonly isProjectElsewhere?: boolean;
}

type Choice = Partial<Record<ResourceKind, readonly string[]>> & { readonly optsIn: boolean };

const kinds: readonly ResourceKind[] = ["extensions", "skills", "prompts"];

/** Finds the installed packages of the setting `packages`; the project's only once it is trusted. */
export async function findPackages(
  settings: SettingsStore,
  dirs: PackageDirs,
): Promise<FoundPackages> {
  const packages = new Map<string, InstalledPackage>();
  const diagnostics: Diagnostic[] = [];
  for (const { entry, scope, baseDirectory } of settings.packages) {
    const source = typeof entry === "string" ? entry : entry.source;
    const origin = originOf(source, scope, { ...dirs, baseDirectory });
    if (packages.has(origin.identity)) continue;
    const kind = kindHere(origin.path);
    if (kind === "missing") diagnostics.push(notThere(source, origin));
    else {
      const manifest = kind === "file" ? {} : await readManifest(origin.path, diagnostics);
      const parts = partsOf(origin.path, {
        manifest,
        choice: choiceOf(entry),
        isFile: kind === "file",
      });
      packages.set(origin.identity, { source, scope, root: origin.path, parts });
    }
  }
  return { packages: [...packages.values()], diagnostics };
}

/**
 * The package of `npm:…` or `git:…`: the user's copy, or else that of a trusted project; otherwise
 * a diagnostic that says why it cannot be used.
 */
export async function findNamedPackage(
  source: string,
  dirs: PackageDirs,
  isProjectTrusted: boolean,
): Promise<InstalledPackage | Diagnostic> {
  const user = originOf(source, "user", { ...dirs, baseDirectory: dirs.cwd });
  const project = originOf(source, "project", { ...dirs, baseDirectory: dirs.cwd });
  const isIn = ({ path }: PackageOrigin) => kindHere(path) === "directory";
  if (isIn(user)) return namedPackage(source, "user", user);
  if (dirs.isProjectElsewhere || !isIn(project)) return notThere(source, user);
  if (isProjectTrusted) return namedPackage(source, "project", project);
  const message = `The package ${source} is only installed in the project (${project.path}), which is not trusted. Trust the project to load it, or install it for yourself: ${user.installCommand ?? ""}`;
  return { severity: "error", message, path: project.path, isFatal: "untrusted" };
}

async function namedPackage(
  source: string,
  scope: SettingsScope,
  { path: root }: PackageOrigin,
): Promise<InstalledPackage> {
  const manifest = await readManifest(root, []);
  const parts = partsOf(root, { manifest, choice: { optsIn: false }, isFile: false });
  return { source, scope, root, parts };
}

function originOf(
  source: string,
  scope: SettingsScope,
  {
    agentDirectory,
    cwd,
    baseDirectory,
    homeDirectory,
  }: PackageDirs & { readonly baseDirectory: string },
): PackageOrigin {
  const root = scope === "user" ? agentDirectory : join(cwd, ".pi");
  return parsePackageSource(source, { root, baseDirectory, homeDirectory });
}

function notThere(source: string, { path, installCommand }: PackageOrigin): Diagnostic {
  const message =
    installCommand === undefined
      ? `There is no package at ${path}`
      : `The package ${source} is not installed; to install it: ${installCommand}`;
  return { severity: "warning", message, path };
}

function choiceOf(entry: string | object): Choice {
  if (typeof entry === "string") return { optsIn: false };
  const given = entry as Record<string, unknown>;
  const lists = kinds.flatMap((kind) => {
    const list = textsOf(given[kind]);
    return list === undefined ? [] : [[kind, list] as const];
  });
  return { ...Object.fromEntries(lists), optsIn: given.autoload === false };
}

type Manifest = Partial<Record<ResourceKind, readonly string[]>> & { readonly isThere?: boolean };

/** The lists in the `pi` member of a package.json; a package that lists anything provides nothing else. */
async function readManifest(root: string, diagnostics: Diagnostic[]): Promise<Manifest> {
  const file = await readJsonFile(join(root, "package.json"));
  if (file.kind === "unreadable") diagnostics.push(file.diagnostic);
  if (file.kind !== "object") return {};
  for (const key of ["pi", "omp"]) {
    const section = file.value[key];
    if (!isJsonObject(section)) continue;
    const isThere = [...kinds, "themes"].some((kind) => section[kind] !== undefined);
    const lists = kinds.map((kind) => [kind, textsOf(section[kind]) ?? []] as const);
    if (isThere) return { ...Object.fromEntries(lists), isThere };
  }
  return {};
}

interface PartSources {
  readonly manifest: Manifest;
  readonly choice: Choice;
  readonly isFile: boolean;
}

function partsOf(
  root: string,
  { manifest, choice, isFile }: PartSources,
): InstalledPackage["parts"] {
  const part = (kind: ResourceKind): PackagePart => {
    const listed = manifest[kind] ?? [];
    const isListed = createResourceFilter(listed.filter(isOverride), root);
    const chosen = choice[kind];
    const isChosen = choice.optsIn
      ? createOptInFilter(chosen ?? [], root)
      : chosen === undefined
        ? () => true
        : chosen.length === 0
          ? () => false
          : createResourceFilter(chosen, root);
    const places = isFile ? (kind === "extensions" ? [root] : []) : placesOf(root, kind, manifest);
    return { places, includes: (path) => isListed(path) && isChosen(path) };
  };
  return { extensions: part("extensions"), skills: part("skills"), prompts: part("prompts") };
}

/**
 * The places that the manifest lists, or else the folder for the kind. A package without any of these folders is an
 * extension itself.
 */
function placesOf(root: string, kind: ResourceKind, manifest: Manifest): string[] {
  if (manifest.isThere) {
    return (manifest[kind] ?? [])
      .filter((entry) => !isOverride(entry))
      .map((entry) => join(root, entry));
  }
  const there = kinds.filter((name) => kindHere(join(root, name)) === "directory");
  if (there.includes(kind)) return [join(root, kind)];
  return there.length === 0 && kind === "extensions" ? [root] : [];
}

function isOverride(entry: string): boolean {
  return /^[-+!]/.test(entry);
}

function textsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : undefined;
}
