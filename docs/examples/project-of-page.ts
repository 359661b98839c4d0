import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/**
 * What a reader has who set a project up as a page of docs/ says and saved each file that the page shows,
 * under its name; removed after the test.
 */
export function projectOfPage(page: string): string {
  const folder = mkdtempSync(join(tmpdir(), "tau-page-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const text = readFileSync(inRepository(`docs/${page}`), "utf8");
  for (const [, file = ""] of text.matchAll(/<!-- file: (\S+) -->/g)) {
    copyFileSync(inRepository(file), join(folder, basename(file)));
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const name of installedBy(text)) {
    const place = join(folder, "node_modules", name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(inRepository(`docs/examples/node_modules/${name}`), place, "junction");
  }
  return folder;
}

/** The packages that the page has its reader install in the project, and no others. */
function installedBy(text: string): Set<string> {
  const lines = text.match(/^npm install (?!-g ).*$/gm) ?? [];
  const words = lines.flatMap((line) => line.split(" ").slice(2));
  return new Set(words.filter((word) => !word.startsWith("-")));
}

function inRepository(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}
