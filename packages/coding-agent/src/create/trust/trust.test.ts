import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SettingsStore } from "@tau-agent/system";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  keepTrustAcross,
  resolveProjectTrust,
  saveProjectTrust,
  type TrustInput,
} from "./trust.ts";

let root: string;
let agentDirectory: string;
let cwd: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "tau-trust-")));
  agentDirectory = join(root, "agent");
  cwd = join(root, "work", "project");
  mkdirSync(agentDirectory);
  mkdirSync(cwd, { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, value: unknown) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
}

async function resolveTrust(input: Partial<TrustInput> = {}) {
  const settings = await SettingsStore.load({ agentDirectory, cwd });
  return resolveProjectTrust({ agentDirectory, cwd, settings, ...input });
}

it("needs no decision for a text-only project", async () => {
  put(join(cwd, ".pi", "skills", "x", "SKILL.md"), "text");
  put(join(cwd, "AGENTS.md"), "text");
  expect(await resolveTrust()).toEqual({
    isTrusted: false,
    source: "not_needed",
    gated: [],
    diagnostics: [],
  });
});

it("defaults to no without a decision, with one diagnostic that lists what was left out", async () => {
  put(join(cwd, ".pi", "settings.json"), {});
  put(join(cwd, ".pi", "agent", "extensions", "x.ts"), "");
  const trust = await resolveTrust();
  expect(trust.isTrusted).toBe(false);
  expect(trust.diagnostics).toHaveLength(1);
  expect(trust.diagnostics[0]?.message).toContain(join(cwd, ".pi", "settings.json"));
  expect(trust.diagnostics[0]?.message).toContain(join(cwd, ".pi", "agent", "extensions"));
  expect(trust.diagnostics[0]?.message).toContain("Trust it");
});

it("takes the decision from the flag, then extensions, then the trust file, then the setting", async () => {
  put(join(cwd, ".pi", "mcp.json"), {});
  put(join(agentDirectory, "settings.json"), { defaultProjectTrust: "always" });
  expect(await resolveTrust()).toMatchObject({ isTrusted: true, source: "setting" });
  await saveProjectTrust(agentDirectory, cwd, false);
  expect(await resolveTrust()).toMatchObject({ isTrusted: false, source: "trust_file" });
  const askExtensions = async () => ({ isTrusted: true, remember: false });
  expect(await resolveTrust({ askExtensions })).toMatchObject({ source: "extension" });
  const flagged = await resolveTrust({ askExtensions, flag: false });
  expect(flagged).toMatchObject({ isTrusted: false, source: "flag" });
});

it("saves an extension's decision only if the extension asks for that", async () => {
  put(join(cwd, ".pi", "mcp.json"), {});
  const answers = (remember: boolean) => async () => ({ isTrusted: true, remember });
  await resolveTrust({ askExtensions: answers(false) });
  expect(await resolveTrust()).toMatchObject({ isTrusted: false, source: "setting" });
  await resolveTrust({ askExtensions: answers(true) });
  expect(await resolveTrust()).toMatchObject({ isTrusted: true, source: "trust_file" });
});

it("uses the nearest saved decision, by real path", async () => {
  put(join(cwd, ".pi", "mcp.json"), {});
  await saveProjectTrust(agentDirectory, join(root, "work"), true);
  const link = join(root, "link");
  symlinkSync(cwd, link);
  expect(await resolveTrust({ cwd: link })).toMatchObject({ isTrusted: true });
  await saveProjectTrust(agentDirectory, link, false);
  expect(await resolveTrust()).toMatchObject({ isTrusted: false });
  await saveProjectTrust(agentDirectory, cwd, undefined);
  expect(await resolveTrust()).toMatchObject({ isTrusted: true });
});

it("treats a damaged trust file as a no and never overwrites it", async () => {
  put(join(cwd, ".pi", "mcp.json"), {});
  put(join(agentDirectory, "settings.json"), { defaultProjectTrust: "always" });
  put(join(agentDirectory, "trust.json"), "{ broken");
  const trust = await resolveTrust();
  expect(trust.isTrusted).toBe(false);
  expect(trust.diagnostics[0]?.path).toBe(join(agentDirectory, "trust.json"));
  await expect(saveProjectTrust(agentDirectory, cwd, true)).rejects.toMatchObject({
    code: "invalid_settings",
  });
  expect(readFileSync(join(agentDirectory, "trust.json"), "utf8")).toBe("{ broken");
});

it("asks again when the files that a trusted project loads have changed", async () => {
  put(join(cwd, ".pi", "settings.json"), {});
  put(join(cwd, ".pi", "extensions", "x", "index.ts"), "one");
  await saveProjectTrust(agentDirectory, cwd, true);
  expect(await resolveTrust()).toMatchObject({ isTrusted: true, diagnostics: [] });
  put(join(cwd, ".pi", "extensions", "x", "index.ts"), "two");
  const changed = await resolveTrust();
  expect(changed.isTrusted).toBe(false);
  expect(changed.diagnostics).toHaveLength(1);
  expect(changed.diagnostics[0]?.message).toContain("has changed");
  expect(changed.diagnostics[0]?.message).toContain(join(cwd, ".pi", "extensions"));
  await resolveTrust({ flag: true, isSubagent: true });
  expect(await resolveTrust()).toMatchObject({ isTrusted: false });
  await resolveTrust({ flag: true });
  expect(await resolveTrust()).toMatchObject({ isTrusted: true, diagnostics: [] });
});

it("notices an added file, and a change behind a link", async () => {
  put(join(cwd, ".pi", "mcp.json"), {});
  put(join(cwd, "shared", "a.ts"), "one");
  mkdirSync(join(cwd, ".pi", "extensions"));
  symlinkSync(join(cwd, "shared"), join(cwd, ".pi", "extensions", "shared"));
  const isTrusted = async () => (await resolveTrust()).isTrusted;
  await saveProjectTrust(agentDirectory, cwd, true);
  put(join(cwd, "shared", "a.ts"), "two");
  expect(await isTrusted()).toBe(false);
  await saveProjectTrust(agentDirectory, cwd, true);
  expect(await isTrusted()).toBe(true);
  put(join(cwd, ".pi", "settings.json"), {});
  expect(await isTrusted()).toBe(false);
});

it("stores the first digest of a project below a trusted folder, and accepts changes when told to", async () => {
  put(join(cwd, ".pi", "settings.json"), {});
  put(join(agentDirectory, "trust.json"), { [join(root, "work")]: true });
  expect(await resolveTrust()).toMatchObject({ isTrusted: true });
  put(join(cwd, ".pi", "settings.json"), { theme: "x" });
  expect(await resolveTrust()).toMatchObject({ isTrusted: false });
  put(join(agentDirectory, "settings.json"), { projectTrustChanges: "accept" });
  expect(await resolveTrust()).toMatchObject({ isTrusted: true });
});

/** The settings of a start with this trust. */
async function trustedStore() {
  const settings = await SettingsStore.load({ agentDirectory, cwd });
  const { isTrusted } = await resolveProjectTrust({ agentDirectory, cwd, settings });
  expect(isTrusted).toBe(true);
  settings.trustProject((write) => keepTrustAcross({ agentDirectory, cwd }, write));
  return settings;
}

it("keeps trust when the host itself writes the project's settings", async () => {
  put(join(cwd, ".pi", "mcp.json"), {});
  await saveProjectTrust(agentDirectory, cwd, true);
  const settings = await trustedStore();
  await settings.append("project", "enabledModels", "a/b");
  await settings.save("project", { defaultModel: "x" });
  const saved = JSON.parse(readFileSync(join(cwd, ".pi", "settings.json"), "utf8"));
  expect(saved).toEqual({ enabledModels: ["a/b"], defaultModel: "x" });
  expect(await resolveTrust()).toMatchObject({ isTrusted: true, diagnostics: [] });
});

it("does not approve other changes with the host's own write", async () => {
  put(join(cwd, ".pi", "extensions", "x.ts"), "one");
  await saveProjectTrust(agentDirectory, cwd, true);
  const settings = await trustedStore();
  put(join(cwd, ".pi", "extensions", "x.ts"), "two");
  await settings.save("project", { defaultModel: "x" });
  expect(await resolveTrust()).toMatchObject({ isTrusted: false });
});

it("keeps trust when several hosts write at once, and grants none by writing", async () => {
  put(join(cwd, ".pi", "mcp.json"), {});
  await saveProjectTrust(agentDirectory, cwd, true);
  const stores = await Promise.all(Array.from({ length: 8 }, trustedStore));
  await Promise.all(
    stores.map((store, index) => store.append("project", "enabledModels", `a/${index}`)),
  );
  expect((await trustedStore()).get("enabledModels")).toHaveLength(8);

  const other = join(root, "work", "other");
  put(join(other, ".pi", "mcp.json"), {});
  await keepTrustAcross({ agentDirectory, cwd: other }, async () => {});
  expect(await resolveTrust({ cwd: other })).toMatchObject({ isTrusted: false });
});
