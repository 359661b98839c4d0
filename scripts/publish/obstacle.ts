import { existsSync } from "node:fs";
import { join } from "node:path";
import { publishedPackages, readManifest } from "./published-packages.ts";
import { repositoryUrl } from "./repository-fields.ts";

/** Why the repository at `root` cannot be published yet, and what to do; undefined if it can. */
export function obstacle(root: string): string | undefined {
  if (repositoryUrl(readManifest("", root)) === undefined) {
    return "Nothing was published: fill in repository.url in package.json, run node scripts/write-repository.ts and commit.";
  }
  const unversioned = publishedPackages(root).find(
    ({ folder }) => !existsSync(join(root, folder, "CHANGELOG.md")),
  );
  if (unversioned === undefined) return undefined;
  return `Nothing was published: ${unversioned.folder} has no CHANGELOG.md. Run pnpm run version:packages and commit.`;
}
