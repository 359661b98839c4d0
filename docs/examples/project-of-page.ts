import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
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
  const installed = inRepository("docs/examples/node_modules");
  symlinkSync(installed, join(folder, "node_modules"), "junction");
  return folder;
}

function inRepository(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}
