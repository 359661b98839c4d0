import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { protectedPlaces } from "../paths/protected-places.ts";
import { Placeholders } from "./placeholders.ts";

let folder: string;
let cwd: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tau-placeholders-"));
  cwd = join(folder, "project");
  mkdirSync(cwd);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const take = (placeholders: Placeholders) =>
  placeholders.take((isPlaceholder) => protectedPlaces(cwd, [], { isPlaceholder }));
const newPlaceholders = () => new Placeholders(join(folder, "sandbox"));
const names = [".git", ".mcp.json", ".pi"];

describe.each([
  ["of one session", 1],
  ["of two sessions", 2],
])("placeholders of two commands %s", (_title, sessions) => {
  it("stay until the last command has ended", async () => {
    const first = newPlaceholders();
    const second = sessions === 1 ? first : newPlaceholders();
    const one = await take(first);
    const two = await take(second);
    // Placeholders must not make the folder a repository.
    expect(two.places).toEqual(one.places);
    await one.release();
    expect(readdirSync(cwd).sort()).toEqual(names);
    await two.release();
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("are present for a command that starts while another ends", async () => {
    const first = newPlaceholders();
    const second = sessions === 1 ? first : newPlaceholders();
    for (let round = 0; round < 20; round++) {
      const one = await take(first);
      const [two] = await Promise.all([take(second), one.release()]);
      expect(readdirSync(cwd).sort()).toEqual(names);
      await two.release();
    }
    expect(readdirSync(cwd)).toEqual([]);
  });
});

it("leave files alone that the user made meanwhile", async () => {
  const placeholders = newPlaceholders();
  const one = await take(placeholders);
  writeFileSync(join(cwd, ".pi/settings.json"), "{}");
  const two = await take(placeholders);
  expect(two.places.missing.map(({ path }) => path)).not.toContain(join(cwd, ".pi"));
  expect(two.places.readOnly).toContain(join(cwd, ".pi"));
  await Promise.all([one.release(), two.release()]);
  expect(readdirSync(cwd)).toEqual([".pi"]);
});
