import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { readComparisonData } from "./comparison-data.ts";
import { performanceFiles } from "./performance-page.ts";
import { plots } from "./plots.ts";
import { scenarios } from "./scenarios/index.ts";

const files = performanceFiles(readComparisonData());

it.each([...files])(
  "%s matches the kept run (update with npx -y pnpm@12 bench:pages)",
  (name, text) => {
    const path = fileURLToPath(new URL(`../../../../docs/${name}`, import.meta.url));
    expect(readFileSync(path, "utf8")).toBe(text);
  },
);

it("shows every row in exactly one picture", () => {
  const shown = plots.flatMap(({ rows }) => Object.keys(rows));
  const all = scenarios.flatMap(({ rows }) => Object.keys(rows));
  expect(shown.toSorted()).toEqual(all.toSorted());
});

it("shows values to readers, and targets and misses to contributors", () => {
  const [page = "", targets = ""] = ["performance.md", "performance-targets.md"].map((name) =>
    files.get(name),
  );
  expect(page).not.toMatch(/MISSED|wanted|≤/);
  expect(targets).toMatch(/MISSED/);
  for (const { name } of plots) expect(page).toContain(`(images/performance-${name}.svg)`);
});

it("draws bars proportional to their values, in colours for light and dark", () => {
  const svg = files.get("images/performance-start.svg") ?? "";
  const lengths = [...svg.matchAll(/class="(tau|peer)" x="20" y="\d+" width="(\d+)"/g)];
  const [tau = 0, peer = 1] = lengths.slice(0, 2).map(([, , width]) => Number(width));
  const { start } = readComparisonData().rows;
  const best = Math.min(...Object.values(start?.peers ?? {}));
  expect(tau / peer).toBeCloseTo((start?.tau ?? 0) / best, 2);
  expect(svg).toContain("prefers-color-scheme: dark");
});
