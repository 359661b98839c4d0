import { globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { longFiles } from "./long-files.ts";

const root = dirname(dirname(fileURLToPath(new URL(".", import.meta.url))));

/**
 * The test files that the test command runs in part or only when they have their turn. Paths from the root
 * of the repository, as all here.
 */
export function longSuites(): string[] {
  return [...new Set([...slicedSuites(), ...longFiles])].toSorted();
}

/** The test files of which a run takes a slice. */
export function slicedSuites(): string[] {
  return globSync("{packages,apps,clients,docs}/**/*.test.ts", {
    cwd: root,
    exclude: (path) => path.includes("node_modules"),
  }).filter((file) => /\/testing\/slice\.ts"/.test(readFileSync(`${root}/${file}`, "utf8")));
}
