import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { afterAll, expect, test } from "vitest";
import { slice } from "../../../../../scripts/testing/slice.ts";
import { LocalWorkspace } from "../local/local-workspace.ts";
import { mutantOf, mutants } from "./__fixtures__/mutants.ts";
import { defaultLimits, runChecks, runWorkspaceConformance } from "./run-workspace-conformance.ts";

const limitMs = 70_000;
/** A separate folder for this file: tests of other workspaces make folders with the same names. */
const place = mkdtempSync(join(tmpdir(), "tau-kit-"));
const good = new LocalWorkspace({ cwd: place, temporaryDirectory: place });
afterAll(async () => {
  await good.dispose?.();
  rmSync(place, { recursive: true, force: true });
});

const folders = () => readdirSync(place).filter((name) => name.startsWith("tau-conformance-"));

test("the local machine passes every check and leaves nothing behind", {
  timeout: limitMs,
}, async () => {
  const before = new Set(folders());
  const { results } = await runWorkspaceConformance(good);
  expect(results.filter(({ ok, limited }) => !ok || limited !== undefined)).toEqual([]);
  expect(results.length).toBeGreaterThan(100);
  expect(folders().filter((name) => !before.has(name))).toEqual([]);
});

test("every check has a mutant, except checks of features that only some workspaces have", async () => {
  const { results } = await runChecks(undefined as unknown as Workspace);
  const caught = new Set(mutants.map(({ catches }) => catches));
  const names = results.map(({ name }) => name);
  expect(names.filter((name) => !caught.has(name))).toEqual([
    "write() works where the folder is not writable",
  ]);
  expect([...caught].filter((name) => !names.includes(name))).toEqual([]);
  expect(mutants.length).toBeGreaterThanOrEqual(60);
});

test.concurrent.each(slice(mutants, 40))(
  "$name is caught",
  { timeout: limitMs },
  async ({ catches, change }) => {
    const { results } = await runChecks(
      mutantOf(good, change),
      defaultLimits,
      (name) => name === catches,
    );
    expect(results.map(({ name, ok }) => [name, ok])).toEqual([[catches, false]]);
    expect(results[0]?.reason).not.toBe("");
  },
);

test("a declared limit excuses a failure, and has no effect if the check passes", async () => {
  const change =
    mutants.find(({ name }) => name === "the streams are mixed")?.change ?? (() => ({}));
  const described = async () => ({
    ...(await good.describe()),
    limited: ["parallel-streams", "stdin"],
  });
  const limited = { ...mutantOf(good, change), describe: described };
  const { results } = await runChecks(limited, defaultLimits, (name) =>
    /apart|open stdin/u.test(name),
  );
  expect(results.map(({ ok, limited: word }) => [ok, word])).toEqual(
    expect.arrayContaining([
      [true, undefined],
      [true, "parallel-streams"],
    ]),
  );
});

test("a run against a workspace that never answers ends in time", async () => {
  const never = () => new Promise<never>(() => undefined);
  const hanging = {
    ...mutantOf(good, () => ({})),
    read: never,
    list: never,
    remove: never,
  } as Workspace;
  const limits = { callMs: 100, checkMs: 200, totalMs: 1_500 };
  const before = new Set(folders());
  const begin = performance.now();
  const { results } = await runChecks(hanging, limits, (name) => /^(?:read|list)\(\)/u.test(name));
  expect(performance.now() - begin).toBeLessThan(8_000);
  expect(results.filter(({ ok }) => ok)).toEqual([]);
  expect(folders().filter((name) => !before.has(name))).toEqual([]);
  const silent = new Proxy({}, { get: () => never }) as Workspace;
  expect((await runChecks(silent, limits)).results.filter(({ ok }) => ok)).toEqual([]);
  // After the total time, commands are ended, and there are three ways to clean up, each followed by a check.
  expect(defaultLimits.totalMs + 2_000 + 6 * 2_500).toBeLessThan(60_000);
});

test("a workspace that throws nonsense is reported, not passed on", async () => {
  const throws = () => {
    throw Object.create(null);
  };
  const broken = new Proxy({}, { get: () => throws }) as Workspace;
  for (const value of [broken, undefined as unknown as Workspace]) {
    const { results } = await runWorkspaceConformance(value);
    expect(results.filter(({ ok }) => ok)).toEqual([]);
  }
});
