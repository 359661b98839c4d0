import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly files?: readonly string[];
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

export interface PublishedPackage {
  /** The path from the root of the repository, with slashes: `packages/ai`. */
  readonly folder: string;
  readonly manifest: Manifest;
}

/** The root of this repository, with a trailing slash. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

/** The manifest in `folder`; `""` for the repository's own. */
export function readManifest(folder: string, from = root): Manifest {
  return JSON.parse(readFileSync(join(from, folder, "package.json"), "utf8"));
}

export function publishedPackages(from = root): PublishedPackage[] {
  return ["apps", "packages"]
    .flatMap((parent) => readdirSync(join(from, parent)).map((name) => `${parent}/${name}`))
    .map((folder) => ({ folder, manifest: readManifest(folder, from) }))
    .filter(({ manifest }) => manifest.private !== true);
}
