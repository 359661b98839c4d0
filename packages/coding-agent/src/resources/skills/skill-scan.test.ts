import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { loadRules } from "../rules/load-rules.ts";
import { loadTemplates } from "../templates/templates.ts";
import { loadSkills } from "./skills.ts";

let dirs: { agentDirectory: string; cwd: string; homeDirectory: string };
beforeEach(() => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tau-scan-")));
  dirs = { homeDirectory: root, agentDirectory: join(root, "agent"), cwd: join(root, "project") };
  put("good/SKILL.md", "---\ndescription: Good\n---\n");
});
afterEach(() => rmSync(dirs.homeDirectory, { recursive: true, force: true }));

function put(path: string, text: string): string {
  const file = join(dirs.cwd, ".pi", "skills", path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

async function scan() {
  const start = performance.now();
  const { skills, diagnostics } = await loadSkills(dirs);
  expect(performance.now() - start).toBeLessThan(4000);
  return { names: skills.map(({ name }) => name), messages: diagnostics.map((d) => d.message) };
}

it("does not follow a project's link to the root of the file system", async () => {
  const path = join(dirs.cwd, ".pi", "skills", "all");
  symlinkSync("/", path);
  expect(await scan()).toEqual({
    names: ["good"],
    messages: [`${path} is left out: its real path is outside the project`],
  });
});

it("stops after a limit of entries, and reports it", async () => {
  const folder = join(dirs.cwd, ".pi", "skills", "many");
  mkdirSync(folder);
  for (let at = 0; at < 10_100; at += 1) writeFileSync(join(folder, `${at}`), "");
  const { names, messages } = await scan();
  expect(names).toEqual(["good"]);
  expect(messages).toEqual([expect.stringContaining("stopped after 10000 files and folders")]);
});

it.each([
  ["names with stars", `${"*a".repeat(40)}b`],
  ["folders at any depth", `${"**/a*/".repeat(20)}b`],
  ["a few stars", "*a*a*a/**/*b"],
])("scans in time despite an ignore file designed for backtracking: %s", async (_, pattern) => {
  put(".gitignore", `${pattern}\nhidden`);
  put("hidden/SKILL.md", "---\ndescription: Hidden\n---\n");
  const deep = Array.from({ length: 6 }, () => "a".repeat(200)).join("/");
  for (let at = 0; at < 20; at += 1) put(`${deep}/${"a".repeat(200)}${at}/x`, "");
  const { names, messages } = await scan();
  expect(names).toEqual(["good"]);
  expect(messages).toEqual([]);
});

it.each([
  ["prompts", async () => (await loadTemplates(dirs)).diagnostics],
  ["rules", async () => (await loadRules(dirs)).diagnostics],
])("reads a limited number of files of %s, and reports that there are more", async (kind, load) => {
  const folder = join(dirs.cwd, ".pi", kind);
  mkdirSync(folder);
  for (let at = 0; at < 1100; at += 1) writeFileSync(join(folder, `${at}.md`), "");
  const messages = (await load()).map(({ message }) => message);
  expect(messages).toContain(`${folder} is left out: all but 1000 of its files`);
});
