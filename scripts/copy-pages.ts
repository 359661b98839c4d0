/**
 * Copies the pages of docs/ and llms.txt into the package in the working directory, so that they are in its
 * archive: users with an installed package, and models that work with it, read them there. npm and pnpm run
 * this before packing.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rewriteLinks } from "../apps/site/src/rewrite-links.ts";
import { repositoryUrl } from "./publish/repository-fields.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const repository = repositoryUrl(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
const sourceAddress = repository && `${repository}/blob/main`;
const files = globSync("docs/*.md", { cwd: root });
const pages = new Map(files.map((file) => [file, basename(file)]));

rmSync("docs", { recursive: true, force: true });
mkdirSync("docs");
for (const file of files) {
  const text = readFileSync(join(root, file), "utf8");
  writeFileSync(file, rewriteLinks(text, { file, pages, sourceAddress }));
}
const text = readFileSync(join(root, "docs/llms.txt"), "utf8");
writeFileSync("llms.txt", text.replaceAll(/\]\((?=[\w-]+\.md\))/g, "](docs/"));
