import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Place, run } from "./place.ts";

/**
 * Downloads a release of Node.js from npm, whose packages contain its program; npm caches them. Returns the
 * folder of the program.
 */
export function nodeRelease(version: string, { folder, env }: Place): string {
  const system = process.platform === "win32" ? "win" : process.platform;
  const name = `node-${system}-${process.arch}`;
  const cwd = join(folder, `node-${version}`);
  mkdirSync(cwd);
  writeFileSync(join(cwd, "package.json"), "{}");
  const words = ["install", "--silent", "--no-audit", "--no-fund", "--prefer-offline"];
  run("npm", [...words, `${name}@${version}`], { cwd, env });
  return join(cwd, "node_modules", name, "bin");
}
