/**
 * Copies example files into the Markdown that shows them: a line `<!-- file: path -->` and the code
 * block after it. `--check` writes nothing and exits with 1 if a block differs from its file.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

const pages = globSync(
  ["*.md", "docs/**/*.md", "packages/*/*.md", "apps/*/*.md", "clients/*/*.md"],
  {
    cwd: inRepository(""),
    exclude: ["**/node_modules/**"],
  },
);
const languages: Readonly<Record<string, string>> = {
  ".html": "html",
  ".ts": "ts",
  ".mjs": "js",
  ".py": "python",
  ".json": "json",
  ".md": "markdown",
};
const marker = /<!-- file: (\S+) -->\n```\w*\n[\s\S]*?```(?=\n)/g;

const isCheck = process.argv.includes("--check");
for (const page of pages) {
  const path = inRepository(page);
  const before = readFileSync(path, "utf8");
  const after = before.replace(marker, (_, file: string) => {
    const code = readFileSync(inRepository(file), "utf8").trimEnd();
    return `<!-- file: ${file} -->\n\`\`\`${languages[extname(file)] ?? ""}\n${code}\n\`\`\``;
  });
  if (after === before) continue;
  if (isCheck) {
    console.error(`${page} shows stale code: run "node scripts/sync-snippets.ts"`);
    process.exitCode = 1;
  } else {
    writeFileSync(path, after);
    console.log(`${page} written`);
  }
}

function inRepository(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}
