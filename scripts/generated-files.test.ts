import { globSync, readFileSync } from "node:fs";
import { matchesGlob } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const marked = readFileSync(`${root}/.gitattributes`, "utf8")
  .split("\n")
  .filter((line) => line.endsWith(" linguist-generated"))
  .map((line) => line.split(" ")[0] ?? "");

const files = globSync(
  ["docs/*.md", "apps/*/*.md", "{apps,clients,packages,scripts}/**/*.{ts,py}", "**/generated/*"],
  { cwd: root, exclude: ["**/node_modules/**", "**/dist/**"] },
);

it("marks every file that begins with how it was generated", () => {
  const note = /^(?:<!--|#|\/\/) (?:Generated|Written) by (?:scripts\/|`npx)/;
  const generated = files.filter(
    (file) => file.includes("/generated/") || note.test(readFileSync(`${root}/${file}`, "utf8")),
  );
  expect(generated.length).toBeGreaterThan(10);
  const plain = generated.filter((file) => !marked.some((glob) => matchesGlob(file, glob)));
  expect(plain).toEqual([]);
});

it("marks no file that is not there", () => {
  const gone = marked.filter((glob) => globSync(glob, { cwd: root }).length === 0);
  expect(gone).toEqual([]);
});
