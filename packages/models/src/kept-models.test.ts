import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { KeptModels } from "./kept-models.ts";

let agentDirectory: string;
beforeEach(() => {
  agentDirectory = mkdtempSync(join(tmpdir(), "tau-models-"));
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(agentDirectory, { recursive: true, force: true });
});

/** Writes models.json with an old time, so that the next change is sure to show. */
function write(...providers: readonly string[]): void {
  const entries = providers.map((id) => [id, { baseUrl: "http://127.0.0.1:1", models: [] }]);
  const text = JSON.stringify({ providers: Object.fromEntries(entries) });
  writeFileSync(join(agentDirectory, "models.json"), text);
  vi.setSystemTime(Date.now() + 60_000);
}

it("reads models.json only once for all sessions, and again after a change", async () => {
  const kept = new KeptModels();
  const load = async () => [...(await kept.load(agentDirectory, {})).providers.keys()];
  expect(await load()).toEqual([]);
  write("one");
  expect(await load()).toEqual(["one"]);
  expect(await kept.load(agentDirectory, {})).toBe(await kept.load(agentDirectory, {}));
  write("one", "two");
  expect(await load()).toEqual(["one", "two"]);
  rmSync(join(agentDirectory, "models.json"));
  expect(await load()).toEqual([]);
});

it("reads a file again that was written a moment ago", async () => {
  const kept = new KeptModels();
  write("one");
  vi.setSystemTime(statSync(join(agentDirectory, "models.json")).ctimeMs);
  await kept.load(agentDirectory, {});
  expect(await kept.load(agentDirectory, {})).not.toBe(await kept.load(agentDirectory, {}));
});

it("does not mix up the models of two folders", async () => {
  const kept = new KeptModels();
  write("one");
  await kept.load(agentDirectory, {});
  expect((await kept.load(tmpdir(), {})).providers.size).toBe(0);
});
