import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const folder = fileURLToPath(new URL("../../../docs/images", import.meta.url));

it.each(globSync("*.svg", { cwd: folder }))(
  "%s has words, and colours for light and dark",
  (name) => {
    const svg = readFileSync(join(folder, name), "utf8");
    expect(svg).toMatch(/^<svg [^>]*viewBox="[^"]+" [^>]*aria-label="[^"]{20,}"/);
    expect(svg).toContain("@media (prefers-color-scheme: dark)");
  },
);
