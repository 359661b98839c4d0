import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { PackedPackage } from "../publish/pack-packages.ts";

export interface PackageManager {
  readonly name: "npm" | "pnpm" | "yarn" | "bun";
  /** The program and its first arguments; by default, the name. */
  readonly program?: readonly string[];
  readonly install: readonly string[];
  readonly command: readonly string[];
  /** Starts Node.js if a plain `node` would not find the packages. */
  readonly node?: readonly string[];
}

/** Yarn is downloaded from npm for this; bun and pnpm are dependencies of the repository. */
export const packageManagers: readonly PackageManager[] = [
  {
    name: "npm",
    install: ["install", "--silent", "--no-audit", "--no-fund", "--prefer-offline"],
    command: ["exec", "--no", "--"],
  },
  {
    name: "pnpm",
    install: ["install", "--silent", "--prefer-offline"],
    command: ["exec"],
  },
  {
    name: "yarn",
    program: ["npx", "--yes", "--prefer-offline", "@yarnpkg/cli-dist@4"],
    install: ["install"],
    command: [],
    node: ["node"],
  },
  { name: "bun", install: ["install", "--silent"], command: ["x", "--no-install"] },
];

/**
 * Writes an empty project that depends on the packages. Uses the archives instead of versions, even for
 * dependencies between our packages, because npm does not have these versions yet.
 */
export function writeProject(
  cwd: string,
  { name }: PackageManager,
  packed: readonly PackedPackage[],
): void {
  const archives = Object.fromEntries(
    packed.map(({ manifest, archive }) => [manifest.name, pathToFileURL(archive).href]),
  );
  const instead = name === "yarn" ? "resolutions" : "overrides";
  const manifest = { name: "user", private: true, type: "module", dependencies: archives };
  const ours = name === "pnpm" || name === "npm" ? {} : { [instead]: archives };
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ ...manifest, ...ours }));
  const lines = Object.entries(archives).map((entry) => `  ${entry.map(quoted).join(": ")}`);
  if (name === "pnpm") {
    writeFileSync(join(cwd, "pnpm-workspace.yaml"), `overrides:\n${lines.join("\n")}\n`);
  }
  // Its own lockfile marks the folder as a project, whatever is in the parent folders.
  if (name === "yarn") writeFileSync(join(cwd, "yarn.lock"), "");
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
