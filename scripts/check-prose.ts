/**
 * Finds phrases that a native reader stumbles over (CONTRIBUTING, "Prose") in Markdown, comments and test titles, and
 * exits with 1 if there are any. Paths on the command line replace the list below.
 */
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { findPhrases } from "./prose/find-phrases.ts";

const checked = [
  "*.md",
  ".changeset/*.md",
  "docs/*.md",
  "docs/decisions/*.md",
  "packages/*/README.md",
  "apps/*/README.md",
  "apps/bench/**/*.{ts,mjs}",
  "docs/examples/**/*.{md,ts,mjs}",
  "apps/cli/**/*.{ts,mjs}",
  "packages/**/*.{ts,mjs}",
  "clients/**/*.{ts,md,mjs}",
  "scripts/**/*.ts",
];

/** Generated from sources, or copied byte for byte. */
const excluded = [
  "**/node_modules/**",
  "**/dist/**",
  "docs/protocol-reference.md",
  "clients/python/tau_rpc/protocol.py",
  "**/generated/**",
  "scripts/prose/*",
];

/** The tables of CONTRIBUTING show what to avoid. */
const tables = /^\|.*$/gm;

const named = process.argv.slice(2);
const root = fileURLToPath(new URL("..", import.meta.url));
const files = globSync(named.length > 0 ? named : checked, { cwd: root, exclude: excluded });
for (const file of files.toSorted()) {
  const source = readFileSync(`${root}${file}`, "utf8");
  const prose = file === "CONTRIBUTING.md" ? source.replace(tables, "") : source;
  for (const { line, phrase, instead } of findPhrases(file, prose)) {
    console.error(`${file}:${line}: "${phrase}" (instead: ${instead})`);
    process.exitCode = 1;
  }
}
