import { globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(new URL(".", import.meta.url))));

export function slicedSuites(): string[] {
  return globSync("{packages,apps,clients,docs}/**/*.test.ts", {
    cwd: root,
    exclude: (path) => path.includes("node_modules"),
  }).filter((file) => /\/testing\/slice\.ts"/.test(readFileSync(`${root}/${file}`, "utf8")));
}
