import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { SettingsStore } from "@tau-agent/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadContextFiles } from "./files/context-files.ts";
import type { PromptResourcesOptions } from "./read-resources.ts";
import { PromptResources } from "./resources.ts";
import { loadSkills } from "./skills/skills.ts";

let root: string;
let dirs: { agentDirectory: string; cwd: string; homeDirectory: string };
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "tau-prompt-")));
  dirs = {
    homeDirectory: join(root, "home"),
    agentDirectory: join(root, "home", ".pi", "agent"),
    cwd: join(root, "repo", "app"),
  };
  mkdirSync(dirs.agentDirectory, { recursive: true });
  mkdirSync(join(root, "repo", ".git"), { recursive: true });
  mkdirSync(dirs.cwd, { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, text: string): string {
  const file = path.startsWith(root) ? path : join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}
const skillText = (name: string, rest = "") =>
  `---\nname: ${name}\ndescription: About ${name}\n${rest}---\nBody of ${name}\n`;
const resources = (options: Partial<PromptResourcesOptions> = {}) =>
  new PromptResources({ ...dirs, settings: SettingsStore.inMemory(), ...options });

describe("context files", () => {
  const load = async (cwd = dirs.cwd) =>
    (await loadContextFiles({ ...dirs, cwd })).files
      .filter(({ path }) => path.startsWith(root))
      .map(({ path, content }) => [path.slice(root.length + 1), content]);

  it("are the user's, then those from the top down to the working folder", async () => {
    put("repo/AGENTS.md", "repo");
    put("repo/app/CLAUDE.md", "app\r\nsecond");
    put(join(dirs.agentDirectory, "AGENTS.md"), "\uFEFFmine");
    expect(await load()).toEqual([
      ["home/.pi/agent/AGENTS.md", "mine"],
      ["repo/AGENTS.md", "repo"],
      ["repo/app/CLAUDE.md", "app\nsecond"],
    ]);
  });

  it("are limited to one per folder, with the override first, and are never folders", async () => {
    put("repo/AGENTS.override.md", "override");
    put("repo/AGENTS.md", "hidden");
    mkdirSync(join(dirs.cwd, "AGENTS.md"));
    put("repo/app/CLAUDE.md", "claude");
    expect(await load()).toEqual([
      ["repo/AGENTS.override.md", "override"],
      ["repo/app/CLAUDE.md", "claude"],
    ]);
  });

  it("appear once if two names lead to one file", async () => {
    const file = put("repo/AGENTS.md", "repo");
    symlinkSync(file, join(dirs.cwd, "AGENTS.md"));
    expect(await load()).toHaveLength(1);
  });

  it("are replaced by those of a worktree inside the repository", async () => {
    put("repo/AGENTS.md", "same");
    put("repo/.trees/one/AGENTS.md", "same");
    put("repo/.trees/one/.git", `gitdir: ${join(root, "repo", ".git", "worktrees", "one")}\n`);
    expect(await load(join(root, "repo", ".trees", "one"))).toEqual([
      ["repo/.trees/one/AGENTS.md", "same"],
    ]);
  });
});

it("reads folders that are named relative to the process", async () => {
  put("repo/app/.pi/prompts/mine.md", "project");
  put("home/.pi/agent/prompts/own.md", "user");
  put("home/.pi/agent/skills/x/SKILL.md", skillText("x"));
  const fromHere = (path: string) => relative(process.cwd(), path);
  const { cwd, agentDirectory } = dirs;
  const found = resources({ cwd: fromHere(cwd), agentDirectory: fromHere(agentDirectory) });
  expect((await found.templates()).map(({ name }) => name)).toEqual(["mine", "own"]);
  expect((await found.skills()).map(({ name }) => name)).toEqual(["x"]);
});

describe("skills", () => {
  const names = async () => (await loadSkills(dirs)).skills.map(({ name }) => name);

  it("are found in all standard folders, up to the repository's root", async () => {
    put("repo/app/.pi/skills/a/SKILL.md", skillText("a"));
    put("repo/app/.pi/agent/skills/b/SKILL.md", skillText("b"));
    put("repo/app/.agents/skills/c/SKILL.md", skillText("c"));
    put("repo/.agents/skills/d/SKILL.md", skillText("d"));
    put(join(dirs.agentDirectory, "skills", "e.md"), skillText("e"));
    put("home/.agents/skills/f/SKILL.md", skillText("f"));
    put(".agents/skills/outside/SKILL.md", skillText("outside"));
    expect(await names()).toEqual(["a", "b", "c", "d", "e", "f"]);
  });

  it("hide a weaker skill of the same name, with a diagnostic", async () => {
    put("repo/app/.pi/skills/x/SKILL.md", skillText("x"));
    const hidden = put(join(dirs.agentDirectory, "skills/x/SKILL.md"), skillText("x"));
    const { skills, diagnostics } = await loadSkills(dirs);
    expect(skills).toMatchObject([{ name: "x", scope: "project" }]);
    expect(diagnostics).toMatchObject([{ severity: "warning", path: hidden }]);
  });

  it("are not searched below a skill, in hidden folders, node_modules or ignored paths", async () => {
    const base = "repo/app/.pi/skills";
    put(`${base}/a/SKILL.md`, skillText("a"));
    put(`${base}/a/deeper/SKILL.md`, skillText("deeper"));
    put(`${base}/group/b/SKILL.md`, skillText("b"));
    put(`${base}/group/notes.md`, skillText("notes"));
    put(`${base}/.hidden/SKILL.md`, skillText("hidden"));
    put(`${base}/node_modules/m/SKILL.md`, skillText("m"));
    put(`${base}/.gitignore`, "drafts/\n");
    put(`${base}/drafts/SKILL.md`, skillText("drafts"));
    expect(await names()).toEqual(["a", "b"]);
  });

  it("survive circular links, and load a linked skill once, silently", async () => {
    put("repo/app/.pi/skills/a/SKILL.md", skillText("a"));
    symlinkSync(join(dirs.cwd, ".pi/skills"), join(dirs.cwd, ".pi/skills/loop"));
    mkdirSync(join(dirs.agentDirectory, "skills"));
    symlinkSync(join(dirs.cwd, ".pi/skills/a"), join(dirs.agentDirectory, "skills/a"));
    const { skills, diagnostics } = await loadSkills(dirs);
    expect(skills).toHaveLength(1);
    expect(diagnostics).toEqual([]);
  });

  it("default to the folder's name, warn about odd names, and need a description", async () => {
    const base = "repo/app/.pi/skills";
    put(`${base}/plain/SKILL.md`, "---\r\ndescription: |\r\n  two\r\n  lines\r\n---\r\nx");
    put(`${base}/odd/SKILL.md`, skillText("Odd--Name"));
    put(`${base}/silent/SKILL.md`, "no frontmatter");
    put(`${base}/broken/SKILL.md`, "---\ndescription: [unclosed\n---\nx");
    put(`${base}/README.md`, "just notes");
    const { skills, diagnostics } = await loadSkills(dirs);
    expect(skills.map(({ name, description }) => [name, description])).toEqual([
      ["Odd--Name", "About Odd--Name"],
      ["plain", "two\nlines"],
    ]);
    const text = diagnostics.map(({ message }) => message).join("\n");
    expect(diagnostics).toHaveLength(3);
    expect(text).toMatch(/broken.*not valid YAML/);
    expect(text).toMatch(/Odd--Name should be/);
    expect(text).toMatch(/silent.*no description/);
  });
});

describe("settings lists", () => {
  it("add places and exclude files", async () => {
    put("repo/app/.pi/skills/a/SKILL.md", skillText("a"));
    put("repo/app/.pi/skills/b/SKILL.md", skillText("b"));
    put(join(dirs.agentDirectory, "more/c/SKILL.md"), skillText("c"));
    put(join(dirs.agentDirectory, "prompts/one.md"), "1");
    put(join(dirs.agentDirectory, "prompts/two.md"), "2");
    const lists = {
      skills: ["more", `-${join(dirs.cwd, ".pi/skills/b")}`],
      prompts: ["!prompts/t*"],
    };
    put(join(dirs.agentDirectory, "settings.json"), JSON.stringify(lists));
    const found = resources({ settings: await SettingsStore.load(dirs) });
    expect((await found.skills()).map(({ name }) => name)).toEqual(["a", "c"]);
    expect((await found.templates()).map(({ name }) => name)).toEqual(["one"]);
    expect(await found.diagnostics()).toEqual([]);
  });
});

describe("prompt expansion", () => {
  it("replaces a skill command with the skill's text, separate from the user's words", async () => {
    const file = put("repo/app/.pi/skills/x/SKILL.md", skillText("x"));
    const block = `<skill name="x" location="${file}">\nReferences are relative to ${dirname(file)}.\n\nBody of x\n</skill>`;
    expect(await resources().expand("/skill:x do it\nnow")).toBe(`${block}\n\ndo it\nnow`);
    expect(await resources().expand("/skill:x")).toBe(block);
  });

  it("replaces a template command with the template, the project's before the user's", async () => {
    put(join(dirs.agentDirectory, "prompts/fix.md"), "user $1");
    put("repo/app/.pi/prompts/fix.md", "---\nargument-hint: <what>\n---\nFix $1 in $2.\n");
    const found = resources();
    expect(await found.expand('/fix "the bug" main')).toBe("Fix the bug in main.");
    expect(await found.templates()).toMatchObject([
      { name: "fix", description: "Fix $1 in $2.", argumentHint: "<what>", scope: "project" },
    ]);
  });

  it.each(["/skill:none x", "/none", "no /fix here", "/", "/usr/bin/env", "// x"])(
    "leaves %s unchanged",
    async (text) => {
      put("repo/app/.pi/prompts/fix.md", "x");
      expect(await resources().expand(text)).toBe(text);
    },
  );

  it("reads nothing for a prompt without a command", async () => {
    const found = resources({ skillPaths: ["/nowhere"] });
    await found.expand("hello");
    expect(await found.diagnostics()).toEqual([]);
    await found.skills();
    expect((await found.diagnostics())[0]?.message).toContain("/nowhere");
  });

  it("reads again after a reload", async () => {
    const found = resources();
    expect(await found.expand("/late")).toBe("/late");
    put("repo/app/.pi/prompts/late.md", "here");
    found.reload();
    expect(await found.expand("/late")).toBe("here");
  });

  it("loads only what flags name when the standard folders are switched off", async () => {
    put("repo/app/.pi/skills/x/SKILL.md", skillText("x"));
    put("extra/y/SKILL.md", skillText("y"));
    const found = resources({ noSkills: true, skillPaths: [join(root, "extra")] });
    expect((await found.skills()).map(({ name }) => name)).toEqual(["y"]);
  });
});

describe("custom system prompts", () => {
  const build = (options: Partial<PromptResourcesOptions> = {}) =>
    resources({ noContextFiles: true, ...options }).systemPrompt([]);
  const cwdBlock = () => `<cwd>\n${dirs.cwd}\n</cwd>`;

  it("come from the project's file or else the user's, and appended text stays separate", async () => {
    put(join(dirs.agentDirectory, "SYSTEM.md"), "user system");
    put(join(dirs.agentDirectory, "APPEND_SYSTEM.md"), "user append\n");
    put("repo/app/.pi/SYSTEM.md", "project system\n");
    expect(await build()).toBe(
      `project system\n\n<addendum>\nuser append\n</addendum>\n\n${cwdBlock()}`,
    );
  });

  it("come from a flag as text or file, with precedence over the files", async () => {
    put("repo/app/.pi/SYSTEM.md", "project system");
    put("repo/app/own.md", "from a file");
    expect(await build({ systemPrompt: "as text" })).toBe(`as text\n\n${cwdBlock()}`);
    const both = await build({ systemPrompt: "own.md", appendSystemPrompts: ["one", "own.md"] });
    expect(both).toBe(
      `from a file\n\n<addendum>\none\n\nfrom a file\n</addendum>\n\n${cwdBlock()}`,
    );
  });
});

describe("settings lists", () => {
  const named = async (skills: string[]) => {
    for (const name of ["a", "b", "c"]) put(`skills/${name}/SKILL.md`, skillText(name));
    put(join(dirs.agentDirectory, "settings.json"), JSON.stringify({ skills }));
    const settings = await SettingsStore.load(dirs);
    return (await resources({ settings }).skills()).map(({ name }) => name);
  };
  const all = () => join(root, "skills");

  it("accept globs, exclude what a pattern matches, and include one of these again", async () => {
    expect(await named([`${all()}/*`])).toEqual(["a", "b", "c"]);
    expect(await named([all(), "!**/skills/b/**"])).toEqual(["a", "c"]);
    expect(await named([all(), `!${all()}/*`, `+${all()}/b`])).toEqual(["b"]);
    expect(await named([all(), `+${all()}/b`, `-${all()}/b`])).toEqual(["a", "c"]);
  });
});
