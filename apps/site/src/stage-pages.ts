import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { rewriteLinks } from "./rewrite-links.ts";

/** The code block language for each file extension of an example. */
const languages: Readonly<Record<string, string>> = {
  ".ts": "ts",
  ".mjs": "js",
  ".py": "python",
  ".html": "html",
};

export interface StageOptions {
  readonly root: string;
  readonly folder: string;
  /** As in `rewriteLinks`. */
  readonly sourceAddress: string | undefined;
}

/**
 * Writes the pages of the site: those of `docs/`, the READMEs of packages, apps and clients, and one page per
 * example with its code.
 */
export function stagePages({ root, folder, sourceAddress }: StageOptions): void {
  const pages = pagesOf(root);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, "apps/site/public"), join(folder, "public"), { recursive: true });
  const overview = readFileSync(join(root, "docs/llms.txt"), "utf8");
  writeFileSync(
    join(folder, "public/llms.txt"),
    overview.replaceAll(/\]\(([\w-]+)\.md\)/g, "](./$1)"),
  );
  for (const [file, page] of pages) {
    const target = join(folder, page);
    mkdirSync(dirname(target), { recursive: true });
    if (extname(file) === ".png" || extname(file) === ".svg") {
      cpSync(join(root, file), target);
      continue;
    }
    const text = readFileSync(join(root, file), "utf8");
    writeFileSync(
      target,
      extname(file) === ".md"
        ? rewriteLinks(text, { file, pages, sourceAddress })
        : examplePage(file, text),
    );
  }
}

/** The page for each file that has one. No folder has the name of a page, because static servers may serve either. */
function pagesOf(root: string): Map<string, string> {
  const find = (pattern: string) =>
    globSync(pattern, { cwd: root, exclude: (path) => path.includes("node_modules") }).toSorted();
  return new Map([
    ["apps/site/src/home.md", "index.md"],
    ["SECURITY.md", "security.md"],
    ["CONTRIBUTING.md", "contributing.md"],
    ...["docs/*.md", "docs/decisions/*.md", "docs/images/*", "docs/demo.svg"].flatMap((pattern) =>
      find(pattern).map((file): [string, string] => [file, file.slice("docs/".length)]),
    ),
    ...find("{packages,apps,clients}/*/README.md").map((file): [string, string] => [
      file,
      `${dirname(file)}.md`,
    ]),
    ...find("docs/examples/*.{ts,mjs,py,html}")
      .filter((file) => !/\.test\.ts$|run-program|project-of-page/.test(file))
      .map((file): [string, string] => [file, `example/${basename(file).replaceAll(".", "-")}.md`]),
  ]);
}

function examplePage(file: string, code: string): string {
  const language = languages[extname(file)] ?? "";
  return `# ${basename(file)}\n\nFrom \`${file}\`.\n\n\`\`\`\`${language}\n${code.trimEnd()}\n\`\`\`\`\n`;
}
