import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { PackedPackage } from "../publish/pack-packages.ts";

export interface PackageManager {
  readonly name: "npm" | "pnpm" | "yarn" | "bun";
  /** The program and its first words; without it, the name is. */
  readonly program?: readonly string[];
  readonly install: readonly string[];
  readonly command: readonly string[];
  /** Starts Node.js where a plain `node` finds no packages. */
  readonly node?: readonly string[];
}

/** Yarn comes from npm for this; bun and pnpm come with the repository. */
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
 * Writes an empty project that has the packages: as archives, where users have a version, and also where
 * one of ours asks for another of ours, which npm does not have yet.
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
  // A lockfile of its own says that this is a project, whatever is in the folders above.
  if (name === "yarn") writeFileSync(join(cwd, "yarn.lock"), "");
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
