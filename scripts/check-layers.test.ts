import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkLayers } from "./check-layers.ts";

const floors = [["low"], ["middle.ts"], ["left", "right"]];
const layers = [{ root: "src", floors, looseFiles: ["index.ts"] }];
const doors = [{ folder: "src/left", door: "index.ts" }];

let baseFolder: string;

beforeEach(async () => {
  baseFolder = await mkdtemp(join(tmpdir(), "tau-layers-"));
});

afterEach(() => rm(baseFolder, { recursive: true }));

async function check(files: Readonly<Record<string, string>>): Promise<string[]> {
  const rest = { "src/low/a.ts": "export const a = 1; export type A = 1;", "src/index.ts": "" };
  for (const [name, text] of Object.entries({ ...rest, ...files })) {
    const path = join(baseFolder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  return checkLayers({ layers, doors, baseFolder });
}

describe("checkLayers", () => {
  it("accepts imports of lower floors, of their files and of doors", async () => {
    const files = {
      "src/middle.ts": 'import "./low/a.ts"; export const m = 1;',
      "src/left/index.ts": 'import "../low/a.ts"; import "../middle.ts"; export const b = 1;',
      "src/index.ts": 'import "./left/index.ts"; import "./middle.ts";',
    };
    expect(await check(files)).toEqual([]);
  });

  it.each([
    ["a value from above", "src/low/b.ts", 'import "../right/r.ts";'],
    [
      "a type from above",
      "src/low/b.ts",
      'import type { R } from "../right/r.ts"; export type B = R;',
    ],
    ["a lazy import from above", "src/low/b.ts", 'export const b = () => import("../right/r.ts");'],
    ["a neighbour on the same floor", "src/left/l.ts", 'import "../right/r.ts";'],
    ["a file behind a door", "src/right/s.ts", 'import "../left/hidden.ts";'],
    ["a file of a floor from above", "src/low/b.ts", 'import "../middle.ts";'],
    ["an import of a file of a floor from above", "src/middle.ts", 'import "./right/r.ts";'],
    ["a loose file", "src/loose.ts", 'import "./low/a.ts";'],
    ["a folder that the table does not know", "src/new/n.ts", 'import "../low/a.ts";'],
  ])("refuses %s", async (_, name, text) => {
    const right = "export const r = 1; export type R = 1;";
    const found = await check({
      "src/right/r.ts": right,
      "src/left/hidden.ts": right,
      "src/middle.ts": right,
      [name]: text,
    });
    expect(found).not.toEqual([]);
    expect(found.every((line) => line.startsWith(`${name} → `))).toBe(true);
  });

  it("fails if it has read nothing", async () => {
    const elsewhere = [{ root: "gone", floors: [["low"]] }];
    const reading = checkLayers({ layers: elsewhere, doors: [], baseFolder });
    await expect(reading).rejects.toThrow(/gone/);
  });
});
