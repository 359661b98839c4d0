import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { placesIn, temporaryFolder } from "../../create/__fixtures__/test-session.ts";
import { piSettings } from "./settings.ts";

function open() {
  const folder = temporaryFolder();
  const { cwd } = placesIn(folder);
  const agentDirectory = join(folder, "agent");
  mkdirSync(agentDirectory);
  const places = { cwd, agentDirectory, homeDirectory: folder, temporaryDirectory: folder };
  // biome-ignore lint/suspicious/noExplicitAny: extensions use these modules untyped, as this test does
  const pi = piSettings({ ...places, environment: {}, version: "1" }) as any;
  return { ...pi, agentDirectory, cwd };
}

it("reads settings with pi's getters, including defaults and overrides", () => {
  const { SettingsManager, agentDirectory, cwd } = open();
  const file = join(agentDirectory, "settings.json");
  const written = JSON.stringify({ theme: "dark", retry: { maxRetries: 1 }, skills: ["~/s"] });
  writeFileSync(file, written);
  mkdirSync(join(cwd, ".pi"));
  writeFileSync(join(cwd, ".pi", "settings.json"), JSON.stringify({ theme: "light" }));
  const settings = SettingsManager.create();
  expect(settings.getTheme()).toBe("light");
  expect(settings.getSkillPaths()).toEqual(["~/s"]);
  expect(settings.getRetrySettings()).toMatchObject({ enabled: true, maxRetries: 1 });
  expect(settings.getDefaultModel()).toBeUndefined();
  settings.setCompactionEnabled(false);
  expect(settings.getCompactionSettings()).toMatchObject({
    enabled: false,
    keepRecentTokens: 20_000,
  });
  settings.applyOverrides({ theme: "mine" });
  expect(settings.getTheme()).toBe("mine");
  expect(readFileSync(file, "utf8")).toBe(written);
  expect(settings.then).toBeUndefined();
  const own = SettingsManager.inMemory({ compaction: { enabled: false } });
  expect([own.getCompactionEnabled(), own.getTheme()]).toEqual([false, undefined]);
});

it("stores an extension's keys immediately, and in the file", async () => {
  const { AuthStorage, agentDirectory } = open();
  const file = join(agentDirectory, "auth.json");
  const keys = AuthStorage.create();
  keys.set("near", { type: "api_key", key: "k" });
  expect(await keys.getApiKey("near")).toBe("k");
  await expect.poll(() => JSON.parse(readFileSync(file, "utf8")).near.key).toBe("k");
  keys.setRuntimeApiKey("near", "for now");
  expect(await keys.getApiKey("near")).toBe("for now");
  keys.removeRuntimeApiKey("near");
  keys.remove("near");
  expect([keys.has("near"), keys.list()]).toEqual([false, []]);
});
