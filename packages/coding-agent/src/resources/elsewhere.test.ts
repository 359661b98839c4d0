import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, win32 } from "node:path";
import { WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { SettingsStore } from "@tau-agent/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadAgents, outlineAgents } from "../subagents/agents/load-agents.ts";
import { MemoryWorkspace } from "./__fixtures__/memory-workspace.ts";
import { watchDisk } from "./__fixtures__/watch-disk.ts";
import { type Disk, diskOf } from "./files/disk.ts";
import { ancestorsOf } from "./files/places.ts";
import type { PromptResourcesOptions } from "./read-resources.ts";
import { PromptResources } from "./resources.ts";

/** Paths in the workspace; nothing on this machine has them. */
const top = "/tau-elsewhere";
const repo = `${top}/repo`;
const cwd = `${repo}/app`;

let root: string;
let there: MemoryWorkspace;
let disk: Disk;
let host: { agentDirectory: string; homeDirectory: string };
beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "tau-elsewhere-")));
  host = { homeDirectory: join(root, "home"), agentDirectory: join(root, "home", ".pi", "agent") };
  there = new MemoryWorkspace({ cwd });
  there.folder(`${repo}/.git`);
  disk = await diskOfIt(there);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function diskOfIt(workspace: MemoryWorkspace): Promise<Disk> {
  const found = await diskOf(workspace);
  if (found === undefined) throw new Error("It is this machine");
  return found;
}

function putHere(path: string, text: string): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function loadSettings(isProjectTrusted = true): Promise<SettingsStore> {
  const { agentDirectory } = host;
  const workspace = { files: there, path: disk.path };
  return SettingsStore.load({ agentDirectory, cwd, workspace, isProjectTrusted });
}

const resources = (options: Partial<PromptResourcesOptions> = {}) =>
  new PromptResources({ ...host, cwd, disk, settings: SettingsStore.inMemory(), ...options });

const skill = (name: string) =>
  `---\nname: ${name}\ndescription: About ${name}\n---\nBody of ${name}\n`;

describe("a remote project", () => {
  it("has its context files read from the top down, after the user's own on this machine", async () => {
    putHere("home/.pi/agent/AGENTS.md", "mine");
    there.put(`${top}/AGENTS.md`, "top");
    there.put(`${repo}/AGENTS.override.md`, "\uFEFFoverride");
    there.put(`${repo}/AGENTS.md`, "hidden");
    there.folder(`${cwd}/AGENTS.md`);
    there.put(`${cwd}/CLAUDE.md`, "app\r\nsecond");
    const seen = watchDisk(top);
    expect(await resources().contextFiles()).toEqual([
      { path: join(host.agentDirectory, "AGENTS.md"), content: "mine" },
      { path: `${top}/AGENTS.md`, content: "top" },
      { path: `${repo}/AGENTS.override.md`, content: "override" },
      { path: `${cwd}/CLAUDE.md`, content: "app\nsecond" },
    ]);
    expect(seen).toEqual([]);
  });

  it("contributes a text once if two names lead to it, or a worktree repeats its repository", async () => {
    there.put(`${repo}/AGENTS.md`, "same");
    there.link(`${cwd}/AGENTS.md`, "../AGENTS.md");
    expect(await resources().contextFiles()).toHaveLength(1);
    const tree = `${repo}/.trees/one`;
    there.put(`${tree}/AGENTS.md`, "same");
    there.put(`${tree}/.git`, `gitdir: ${repo}/.git/worktrees/one\n`);
    const files = await resources({ cwd: tree }).contextFiles();
    expect(files.map(({ path }) => path)).toEqual([`${tree}/AGENTS.md`]);
  });

  it("has its skills read from all standard folders, and the user's from this machine", async () => {
    there.put(`${cwd}/.pi/skills/a/SKILL.md`, skill("a"));
    there.put(`${cwd}/.pi/agent/skills/b/SKILL.md`, skill("b"));
    there.put(`${cwd}/.agents/skills/c/SKILL.md`, skill("c"));
    there.put(`${repo}/.agents/skills/group/d/SKILL.md`, skill("d"));
    there.put(`${top}/.agents/skills/outside/SKILL.md`, skill("outside"));
    there.put("/home/there/.agents/skills/theirs/SKILL.md", skill("theirs"));
    putHere("home/.pi/agent/skills/e.md", skill("e"));
    putHere("home/.agents/skills/f/SKILL.md", skill("f"));
    const seen = watchDisk(top);
    const found = await resources().skills();
    expect(found.map(({ name }) => name)).toEqual(["a", "b", "c", "d", "e", "f"]);
    expect(found[3]).toMatchObject({
      filePath: `${repo}/.agents/skills/group/d/SKILL.md`,
      scope: "project",
    });
    expect(seen).toEqual([]);
  });

  it("is not searched below a skill, in hidden or ignored folders, and loops end", async () => {
    const base = `${cwd}/.pi/skills`;
    there.put(`${base}/a/SKILL.md`, skill("a"));
    there.put(`${base}/a/deeper/SKILL.md`, skill("deeper"));
    there.put(`${base}/group/b/SKILL.md`, skill("b"));
    there.put(`${base}/.hidden/SKILL.md`, skill("hidden"));
    there.put(`${base}/.gitignore`, "drafts/\n");
    there.put(`${base}/drafts/SKILL.md`, skill("drafts"));
    there.link(`${base}/loop`, base);
    const found = resources();
    expect((await found.skills()).map(({ name }) => name)).toEqual(["a", "b"]);
    expect(await found.diagnostics()).toEqual([]);
    expect(there.calls.filter((call) => call.includes("drafts"))).toEqual([]);
  });

  it("is searched up to limits of files and folders", async () => {
    for (let at = 0; at < 10_100; at += 1) there.put(`${cwd}/.pi/skills/many/${at}`, "");
    const found = resources();
    await found.skills();
    const messages = (await found.diagnostics()).map(({ message }) => message);
    expect(messages).toEqual([expect.stringContaining("stopped after 10000 files and folders")]);
  });

  it("has its templates, rules, system prompt and agents read", async () => {
    there.put(`${cwd}/.pi/prompts/fix.md`, "Fix $1.");
    there.put(`${cwd}/.pi/rules/r.md`, "---\nttsr_trigger: never\n---\nDo not.");
    there.put(`${cwd}/.pi/SYSTEM.md`, "project system");
    there.put(`${cwd}/.pi/agent/APPEND_SYSTEM.md`, "project append");
    there.put(`${cwd}/.pi/agents/sewer.md`, "---\ndescription: Sews\n---\nSew.");
    putHere("home/.pi/agent/prompts/fix.md", "user");
    putHere("home/.pi/agent/SYSTEM.md", "user system");
    const seen = watchDisk(top);
    const found = resources();
    expect(await found.expand("/fix it")).toBe("Fix it.");
    expect((await found.rules()).rules).toMatchObject([{ content: "Do not." }]);
    expect(await found.systemPrompt([])).toContain("project system\n\n<addendum>\nproject append");
    const dirs = { ...host, cwd, disk, isProjectTrusted: false };
    expect((await loadAgents(dirs)).agents.get("sewer")).toMatchObject({ systemPrompt: "Sew." });
    expect((await outlineAgents(dirs)).get("sewer")).toBe("Sews");
    expect(seen).toEqual([]);
  });

  it("is kept apart from a local folder with the same path", async () => {
    const same = join(root, "same");
    const elsewhere = new MemoryWorkspace({ cwd: same });
    putHere("same/AGENTS.md", "HERE");
    putHere("same/.pi/skills/x/SKILL.md", skill("here"));
    putHere("same/.pi/SYSTEM.md", "HERE");
    putHere("same/.pi/prompts/p.md", "HERE");
    elsewhere.put(`${same}/AGENTS.md`, "over there");
    const x = elsewhere.put(`${same}/.pi/skills/x/SKILL.md`, skill("there"));
    const found = resources({ cwd: same, disk: await diskOfIt(elsewhere) });
    const prompt = await found.systemPrompt([{ name: "read" }]);
    expect(prompt).toContain("over there");
    expect(prompt).not.toContain("HERE");
    expect(await found.expand("/skill:there")).toContain(`location="${x}"`);
    expect(await found.expand("/skill:there")).toContain("Body of there");
    expect(await found.expand("/p")).toBe("/p");
  });
});

describe("settings lists for a remote project", () => {
  it("name places on the machine of their file", async () => {
    there.put(`${cwd}/.pi/more/a/SKILL.md`, skill("a"));
    there.put("/home/there/shared/b/SKILL.md", skill("b"));
    there.put("/pool/c/SKILL.md", skill("c"));
    there.put(
      `${cwd}/.pi/settings.json`,
      JSON.stringify({ skills: ["more", "~/shared", "/pool/*", "-no"] }),
    );
    there.put(`${cwd}/.pi/no/n/SKILL.md`, skill("n"));
    putHere("home/.pi/agent/more/d/SKILL.md", skill("d"));
    putHere("home/.pi/agent/no/e/SKILL.md", skill("e"));
    putHere("home/.pi/agent/settings.json", JSON.stringify({ skills: ["more", "no"] }));
    const seen = watchDisk(top);
    const found = resources({ settings: await loadSettings() });
    expect((await found.skills()).map(({ name }) => name)).toEqual(["a", "b", "c", "d", "e"]);
    expect(await found.diagnostics()).toEqual([]);
    expect(seen).toEqual([]);
  });

  it("exclude the project's files by the user's full paths and patterns", async () => {
    for (const name of ["a", "b", "c"])
      there.put(`${cwd}/.pi/skills/${name}/SKILL.md`, skill(name));
    const skills = [`-${cwd}/.pi/skills/a`, "!**/skills/b/**"];
    putHere("home/.pi/agent/settings.json", JSON.stringify({ skills }));
    const found = resources({ settings: await loadSettings() });
    expect((await found.skills()).map(({ name }) => name)).toEqual(["c"]);
  });
});

describe("settings of a remote project", () => {
  it("are read and saved in its workspace", async () => {
    putHere("home/.pi/agent/settings.json", '{"defaultModel":"mine"}');
    const path = there.put(
      `${cwd}/.pi/settings.json`,
      '{\n  // why\n  "defaultModel": "theirs"\n}\n',
    );
    there.put(`${cwd}/.pi/omp.jsonc`, '{"defaultProvider":"p",}');
    const seen = watchDisk(top);
    const settings = await loadSettings();
    expect([settings.get("defaultModel"), settings.get("defaultProvider")]).toEqual([
      "theirs",
      "p",
    ]);
    await settings.save("project", { defaultModel: "other" });
    expect(there.textOf(path)).toBe('{\n  // why\n  "defaultModel": "other"\n}\n');
    expect(settings.get("defaultModel")).toBe("other");
    expect(seen).toEqual([]);
  });

  it("are reported if they cannot be read, and count as the strictest limits", async () => {
    there.put(`${cwd}/.pi/settings.json`, '{"sandbox": {');
    there.pipe(`${cwd}/.pi/omp.jsonc`);
    const settings = await loadSettings();
    expect(settings.diagnostics.map(({ message }) => message)).toEqual([
      expect.stringContaining("omp.jsonc: it is not a regular file"),
      expect.stringContaining("settings.json is not valid JSON (line 1"),
    ]);
    expect(settings.sandboxFiles.map(({ value }) => value)).toContain("unreadable");
    there.put(`${cwd}/.pi/settings.json`, `{"a":"${"x".repeat(1024 * 1024)}"}`);
    await settings.reload();
    const messages = settings.diagnostics.map(({ message }) => message);
    expect(messages.at(-1)).toContain("it is larger than 1 MiB");
  });

  it("are ignored if they name code", async () => {
    there.put(`${cwd}/.pi/settings.json`, '{"packages":["npm:a"],"extensions":["./x.ts"]}');
    putHere("home/.pi/agent/settings.json", '{"packages":["npm:b"]}');
    const settings = await loadSettings();
    expect(settings.packages.map(({ entry }) => entry)).toEqual(["npm:b"]);
    expect(settings.resources("extensions")).toEqual([]);
    expect(settings.foreignCode.map(({ entry }) => entry)).toEqual(["./x.ts", "npm:a"]);
  });
});

const placesOfTexts = [
  "AGENTS.md",
  ".pi/SYSTEM.md",
  ".pi/APPEND_SYSTEM.md",
  ".pi/prompts/x.md",
  ".pi/skills/x/SKILL.md",
  ".pi/skills/x.md",
  ".agents/skills/x/SKILL.md",
  ".pi/rules/x.md",
];

/** Every text that the session would send, and the problems. */
async function texts() {
  const found = resources();
  const prompt = await found.systemPrompt([{ name: "read" }]);
  const { rules, diagnostics } = await found.rules();
  const all = JSON.stringify([prompt, await found.templates(), await found.skills(), rules]);
  const problems = [...(await found.diagnostics()), ...diagnostics];
  return { found: all, messages: problems.map(({ message }) => message) };
}

describe.each(placesOfTexts)("%s in a remote project", (place) => {
  it.each([
    ["a file outside", "/home/there/.ssh/id"],
    ["the environment of a process", "/proc/self/environ"],
  ])("is left out and reported when it links to %s", async (_, target) => {
    there.put(target, "---\ndescription: SECRET\n---\nSECRET");
    const path = there.link(`${cwd}/${place}`, target);
    const { found, messages } = await texts();
    expect(found).not.toContain("SECRET");
    expect(messages.filter((message) => message.includes(path))).toEqual([
      expect.stringContaining(`${path} is left out: it`),
    ]);
  });

  it("is not sent when it becomes a link while it is being read", async () => {
    const path = there.put(`${cwd}/${place}`, "---\ndescription: fine\n---\nfine");
    const secret = there.put("/home/there/.ssh/id", "---\ndescription: SECRET\n---\nSECRET");
    const { read } = there;
    there.read = (...args) => {
      if (args[0] === path) there.link(path, secret);
      return read.apply(there, args);
    };
    expect((await texts()).found).not.toContain("SECRET");
  });
});

it("leaves out special files, binary content and oversized files", async () => {
  const pipe = there.pipe(`${cwd}/AGENTS.md`);
  const binary = there.put(`${cwd}/.pi/prompts/b.md`, Buffer.from("a\0b"));
  const large = there.put(`${cwd}/.pi/prompts/l.md`, "x".repeat(1024 * 1024 + 1));
  const { messages } = await texts();
  expect(messages).toContain(`${pipe} is left out: it is not a regular file`);
  expect(messages).toContain(`${binary} is left out: it is a binary file`);
  expect(messages).toContain(`${large} is left out: it is larger than 1 MiB`);
});

it("leaves out files above the project in a world-writable folder", async () => {
  there.folder(top, 0o1777);
  const above = there.put(`${top}/AGENTS.md`, "STRANGER");
  there.put(`${repo}/AGENTS.md`, "repo");
  const { found, messages } = await texts();
  expect(found).toContain("repo");
  expect(found).not.toContain("STRANGER");
  expect(messages).toEqual([
    `${above} is left out: it is in a folder above the project that anybody may write to`,
  ]);
});

it("fails while the workspace is unreachable, and reads again afterwards", async () => {
  there.put(`${cwd}/AGENTS.md`, "there");
  const found = resources();
  there.failure = new WorkspaceError("lost");
  await expect(found.systemPrompt([])).rejects.toMatchObject({ code: "lost" });
  await expect(loadSettings()).rejects.toMatchObject({ code: "lost" });
  there.failure = undefined;
  expect(await found.systemPrompt([])).toContain("there");
});

it("finds the folders of a Windows machine from any host", () => {
  expect(ancestorsOf("C:\\work\\app", win32)).toEqual(["C:\\work\\app", "C:\\work", "C:\\"]);
});
