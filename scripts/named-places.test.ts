import { globSync, readFileSync } from "node:fs";
import { matchesGlob } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const found = globSync("{apps,clients,docs,packages,scripts}/**", {
  cwd: root,
  exclude: ["**/node_modules", "**/dist"],
});

/** The paths that a page names in inline code: `a/file.ts`, `a/folder/`; `<name>` matches any name. */
function placesIn(page: string): string[] {
  const text = readFileSync(`${root}/${page}`, "utf8").replaceAll(/^```[\s\S]*?^```/gm, "");
  const codes = [...text.matchAll(/`([^`\s{}*]+(?:<[^>]+>[^`\s]*)*)`/g)].map(
    ([, code = ""]) => code,
  );
  return codes.filter((code) => /^[\w<].*(?:\.tsx?|\/)$/.test(code));
}

it.each(["docs/architecture.md", "AGENTS.md"])("finds each path that %s names", (page) => {
  const places = placesIn(page);
  expect(places.length).toBeGreaterThan(20);
  const gone = places.filter((place) => {
    const glob = `**/${place.replaceAll(/<[^>]+>/g, "*").replace(/\/$/, "")}`;
    return !found.some((path) => matchesGlob(path, glob));
  });
  expect(gone).toEqual([]);
});
