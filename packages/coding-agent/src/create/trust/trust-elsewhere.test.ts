import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SettingsStore } from "@tau-agent/system";
import { afterEach, beforeEach, expect, it } from "vitest";
import { MemoryWorkspace } from "../../resources/__fixtures__/memory-workspace.ts";
import { watchDisk } from "../../resources/__fixtures__/watch-disk.ts";
import { type Disk, diskOf } from "../../resources/files/disk.ts";
import {
  keepTrustAcross,
  resolveProjectTrust,
  saveProjectTrust,
  type TrustInput,
} from "./trust.ts";

const top = "/tau-elsewhere";
const cwd = `${top}/work/project`;

let agentDirectory: string;
let there: MemoryWorkspace;
let disk: Disk;
beforeEach(async () => {
  agentDirectory = realpathSync(mkdtempSync(join(tmpdir(), "tau-trust-")));
  there = new MemoryWorkspace({ cwd });
  disk = await diskOfIt(there);
});
afterEach(() => rmSync(agentDirectory, { recursive: true, force: true }));

async function diskOfIt(workspace: MemoryWorkspace): Promise<Disk> {
  const found = await diskOf(workspace);
  if (found === undefined) throw new Error("It is this machine");
  return found;
}

function putOwn(name: string, value: unknown): void {
  mkdirSync(agentDirectory, { recursive: true });
  writeFileSync(join(agentDirectory, name), JSON.stringify(value));
}

function readOwn(name: string): unknown {
  return JSON.parse(readFileSync(join(agentDirectory, name), "utf8"));
}

async function loadSettings(): Promise<SettingsStore> {
  const workspace = { files: there, path: disk.path };
  return SettingsStore.load({ agentDirectory, cwd, workspace });
}

async function resolveTrust(input: Partial<TrustInput> = {}) {
  const settings = await loadSettings();
  return resolveProjectTrust({ agentDirectory, cwd, disk, settings, ...input });
}

const isTrusted = async (input?: Partial<TrustInput>) => (await resolveTrust(input)).isTrusted;

it("trust is not needed for text, or for code, which is not loaded", async () => {
  there.put(`${cwd}/.pi/skills/x/SKILL.md`, "text");
  there.put(`${cwd}/.pi/extensions/x.ts`, "code");
  there.put(`${cwd}/.pi/npm/node_modules/p/package.json`, "{}");
  const seen = watchDisk(top);
  expect(await resolveTrust()).toEqual({
    isTrusted: false,
    source: "not_needed",
    gated: [],
    diagnostics: [],
  });
  expect(seen).toEqual([]);
});

it("trust defaults to no, with one diagnostic that lists what was left out", async () => {
  there.put(`${cwd}/.pi/settings.json`, "{}");
  there.put(`${cwd}/.pi/agent/mcp.json`, "{}");
  there.put(`${cwd}/.mcp.json`, "{}");
  const { gated, diagnostics } = await resolveTrust();
  expect(gated).toEqual([
    `${cwd}/.mcp.json`,
    `${cwd}/.pi/agent/mcp.json`,
    `${cwd}/.pi/settings.json`,
  ]);
  expect(diagnostics).toMatchObject([{ code: "project_untrusted" }]);
  expect(diagnostics[0]?.message).toContain(gated.join(", "));
});

it("trust is decided by the flag, then extensions, then the file, then the setting", async () => {
  there.put(`${cwd}/.pi/mcp.json`, "{}");
  putOwn("settings.json", { defaultProjectTrust: "always" });
  expect(await resolveTrust()).toMatchObject({ isTrusted: true, source: "setting" });
  await saveProjectTrust(agentDirectory, cwd, false, disk);
  expect(await resolveTrust()).toMatchObject({ isTrusted: false, source: "trust_file" });
  const askExtensions = async () => ({ isTrusted: true, remember: true });
  expect(await resolveTrust({ askExtensions })).toMatchObject({ source: "extension" });
  expect(await resolveTrust()).toMatchObject({ isTrusted: true, source: "trust_file" });
  expect(await resolveTrust({ flag: false })).toMatchObject({ isTrusted: false, source: "flag" });
});

it("a decision is stored by workspace and real path, never in trust.json, which is for this machine only", async () => {
  there.put(`${cwd}/.pi/mcp.json`, "{}");
  putOwn("trust.json", { [cwd]: true });
  expect(await isTrusted()).toBe(false);
  there.link(`${top}/link`, cwd);
  await saveProjectTrust(agentDirectory, `${top}/link`, true, disk);
  expect(await isTrusted()).toBe(true);
  expect(await isTrusted({ cwd: `${top}/link` })).toBe(true);
  expect(readOwn("workspace-trust.json")).toEqual({ [`ws-memory:${cwd}`]: true });
  expect(readOwn("trust.json")).toEqual({ [cwd]: true });
  expect(existsSync(join(agentDirectory, "trust-digests.json"))).toBe(false);
  const other = new MemoryWorkspace({ cwd, id: "ws-other" });
  other.put(`${cwd}/.pi/mcp.json`, "{}");
  expect(await isTrusted({ disk: await diskOfIt(other) })).toBe(false);
});

it("a decision applies to subfolders of a trusted folder, and the nearest decision wins", async () => {
  there.put(`${cwd}/.pi/mcp.json`, "{}");
  await saveProjectTrust(agentDirectory, `${top}/work`, true, disk);
  expect(await isTrusted()).toBe(true);
  await saveProjectTrust(agentDirectory, cwd, false, disk);
  expect(await isTrusted()).toBe(false);
  await saveProjectTrust(agentDirectory, cwd, undefined, disk);
  expect(await isTrusted()).toBe(true);
});

it("a damaged file counts as a no", async () => {
  there.put(`${cwd}/.pi/mcp.json`, "{}");
  putOwn("settings.json", { defaultProjectTrust: "always" });
  writeFileSync(join(agentDirectory, "workspace-trust.json"), "{ broken");
  const trust = await resolveTrust();
  expect(trust.isTrusted).toBe(false);
  expect(trust.diagnostics[0]?.path).toBe(join(agentDirectory, "workspace-trust.json"));
});

it("trust is suspended when the loaded files change, even behind a link, until the user approves", async () => {
  there.put(`${cwd}/.pi/settings.json`, "{}");
  there.put(`${cwd}/shared/one.md`, "one");
  there.link(`${cwd}/.pi/agents`, `${cwd}/shared`);
  await saveProjectTrust(agentDirectory, cwd, true, disk);
  expect(await resolveTrust()).toMatchObject({ isTrusted: true, diagnostics: [] });
  there.put(`${cwd}/shared/one.md`, "two");
  const changed = await resolveTrust();
  expect(changed.isTrusted).toBe(false);
  expect(changed.diagnostics[0]?.message).toContain("has changed");
  await resolveTrust({ flag: true, isSubagent: true });
  expect(await isTrusted()).toBe(false);
  await resolveTrust({ flag: true });
  expect(await isTrusted()).toBe(true);
  there.put(`${cwd}/.mcp.json`, "{}");
  expect(await isTrusted()).toBe(false);
  putOwn("settings.json", { projectTrustChanges: "accept" });
  expect(await isTrusted()).toBe(true);
});

it("trust is kept across the host's own writes, but not across other writes", async () => {
  there.put(`${cwd}/.pi/mcp.json`, "{}");
  await saveProjectTrust(agentDirectory, cwd, true, disk);
  const settings = await loadSettings();
  settings.trustProject((write) => keepTrustAcross({ agentDirectory, cwd, disk }, write));
  await settings.append("project", "enabledModels", "a/b");
  expect(JSON.parse(there.textOf(`${cwd}/.pi/settings.json`) ?? "")).toEqual({
    enabledModels: ["a/b"],
  });
  expect(await isTrusted()).toBe(true);
  there.put(`${cwd}/.pi/mcp.json`, '{"mcpServers":{}}');
  await settings.save("project", { defaultModel: "x" });
  expect(await isTrusted()).toBe(false);
});
