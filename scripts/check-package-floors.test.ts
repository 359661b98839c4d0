import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkPackageFloors, referencesOf } from "./check-package-floors.ts";

const floors = [["packages/low"], ["packages/left", "packages/right"]];

let baseFolder: string;

beforeEach(() => {
  baseFolder = mkdtempSync(join(tmpdir(), "tau-package-floors-"));
  for (const name of ["low", "left", "right", "new"]) refer(name, []);
});

afterEach(() => rmSync(baseFolder, { recursive: true }));

function refer(name: string, to: readonly string[]): void {
  const folder = join(baseFolder, "packages", name);
  mkdirSync(folder, { recursive: true });
  const references = to.map((other) => ({ path: `../${other}` }));
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ references }));
}

describe("checkPackageFloors", () => {
  const packages = ["packages/low", "packages/left", "packages/right"];

  it("accepts references to lower floors", () => {
    refer("left", ["low"]);
    expect(checkPackageFloors(packages, floors, baseFolder)).toEqual([]);
  });

  it.each([
    ["a reference to a higher floor", "low", "left"],
    ["a reference to a neighbour", "left", "right"],
    ["a package without a floor", "right", "new"],
  ])("refuses %s", (_, from, to) => {
    refer(from, [to]);
    expect(checkPackageFloors(packages, floors, baseFolder)).toEqual([
      `packages/${from} → packages/${to}: packages/${to} is on no lower floor`,
    ]);
  });

  it.each([
    'import { a } from "@tau-agent/left";',
    'import type { A } from "@tau-agent/left/types";',
    'export const a = () => import("@tau-agent/left");',
  ])("refuses an import from a higher floor without a reference: %s", (text) => {
    const source = join(baseFolder, "packages/low/src/deep");
    mkdirSync(source, { recursive: true });
    writeFileSync(join(source, "a.ts"), text);
    writeFileSync(join(source, "a.test.ts"), 'import "@tau-agent/right";');
    expect(checkPackageFloors(packages, floors, baseFolder)).toEqual([
      "packages/low → packages/left: packages/left is on no lower floor",
    ]);
  });

  it("names a package that is missing from the table", () => {
    expect(checkPackageFloors([...packages, "packages/new"], floors, baseFolder)).toEqual([
      "packages/new is on no floor of scripts/layers.ts",
    ]);
  });
});

it("reads the references of this repository", () => {
  expect(referencesOf(join(import.meta.dirname, ".."), ".")).toContain("packages/sessions");
});
