import { globSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { sections } from "./site-map.ts";

it("lists every page of docs/ exactly once", () => {
  const folder = fileURLToPath(new URL("../../../docs", import.meta.url));
  const pages = globSync("*.md", { cwd: folder }).map((file) => basename(file, ".md"));
  expect(sections.flatMap((section) => section.pages).toSorted()).toEqual(pages.toSorted());
});
