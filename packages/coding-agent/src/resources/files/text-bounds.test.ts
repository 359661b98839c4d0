import { execFileSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SettingsStore } from "@tau-agent/system";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { PromptResources } from "../resources.ts";
import { type TextBounds, textBoundsOf } from "./project-bounds.ts";
import { readBoundText, readBoundTextNow } from "./text-bounds.ts";

let root: string;
let dirs: { agentDirectory: string; cwd: string; homeDirectory: string };
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "tau-bounds-")));
  const homeDirectory = join(root, "home");
  const agentDirectory = join(homeDirectory, ".pi", "agent");
  dirs = { homeDirectory, agentDirectory, cwd: join(root, "repo", "app") };
  put("home/.pi/agent/auth.json", '{"anthropic":"SECRET"}');
  put("home/.ssh/id", "SECRET");
  put("repo/.git/HEAD", "");
  mkdirSync(dirs.cwd, { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, text: string | Buffer): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function link(path: string, target: string): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  symlinkSync(target, file);
  return file;
}

/** Every text that the session would send, and the problems. */
async function texts() {
  const resources = new PromptResources({ ...dirs, settings: SettingsStore.inMemory() });
  const prompt = await resources.systemPrompt([{ name: "read" }]);
  const templates = await resources.templates();
  const { rules, diagnostics } = await resources.rules();
  const found = JSON.stringify([prompt, templates, await resources.skills(), rules]);
  const all = [...(await resources.diagnostics()), ...diagnostics];
  return { found, messages: all.map(({ message }) => message) };
}

const places = [
  "AGENTS.md",
  ".pi/SYSTEM.md",
  ".pi/APPEND_SYSTEM.md",
  ".pi/prompts/x.md",
  ".pi/agent/prompts/x.md",
  ".pi/skills/x/SKILL.md",
  ".pi/skills/x.md",
  ".agents/skills/x/SKILL.md",
  ".pi/rules/x.md",
  ".agents/rules/x.md",
];

describe.each(places)("%s in a project", (place) => {
  it.each([
    ["the agent directory", () => join(dirs.agentDirectory, "auth.json")],
    ["a file outside", () => join(root, "home", ".ssh", "id")],
    ["the host's environment", () => "/proc/self/environ"],
    ["a device", () => "/dev/zero"],
  ])("is left out and reported when it links to %s", async (_, target) => {
    const path = link(`repo/app/${place}`, target());
    const { found, messages } = await texts();
    expect(found).not.toContain("SECRET");
    expect(found).not.toContain("PATH=");
    expect(messages.filter((message) => message.includes(path))).toEqual([
      expect.stringContaining(`${path} is left out: it`),
    ]);
  });
});

it("leaves out special files and binary content", async () => {
  const pipe = join(dirs.cwd, "AGENTS.md");
  execFileSync("mkfifo", [pipe]);
  const binary = put("repo/app/.pi/prompts/b.md", Buffer.from("a\0b"));
  const { messages } = await texts();
  expect(messages).toContain(`${pipe} is left out: it is not a regular file`);
  expect(messages).toContain(`${binary} is left out: it is a binary file`);
});

it.runIf(existsSync("/dev/shm"))("reads a project's text in shared memory", async () => {
  const cwd = mkdtempSync("/dev/shm/tau-bounds-");
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const path = join(cwd, "AGENTS.md");
  writeFileSync(path, "shared words");
  const found = await readBoundText(path, "project", await textBoundsOf({ ...dirs, cwd }));
  expect(found).toMatchObject({ kind: "text", text: "shared words" });
});

it("leaves out and reports a link to itself", async () => {
  const path = link("repo/app/.pi/prompts/x.md", "x.md");
  link("repo/app/.pi/prompts/y.md", "nowhere.md");
  expect((await texts()).messages).toEqual([`${path} is left out: it cannot be opened (ELOOP)`]);
});

it("leaves out a project folder that is a link to somewhere else", async () => {
  put("home/.ssh/notes.md", "SECRET");
  for (const kind of ["prompts", "rules", "skills"]) {
    link(`repo/app/.pi/${kind}`, join(root, "home", ".ssh"));
  }
  const { found, messages } = await texts();
  expect(found).not.toContain("SECRET");
  expect(messages.filter((message) => message.includes("outside the project"))).not.toEqual([]);
});

it("follows links within the repository, and the user's own links", async () => {
  put("repo/shared.md", "shared words");
  link("repo/app/AGENTS.md", "../shared.md");
  put("home/dotfiles/ask.md", "own words");
  link("home/.pi/agent/prompts/ask.md", "../../../dotfiles/ask.md");
  const { found, messages } = await texts();
  expect(found).toContain("shared words");
  expect(found).toContain("own words");
  expect(messages).toEqual([]);
});

it("does not let a project's link hide the user's own file", async () => {
  const mine = put("home/.agents/skills/sew/SKILL.md", "---\ndescription: Sewing\n---\n");
  link("repo/app/.pi/skills/sew/SKILL.md", mine);
  expect((await texts()).found).toContain("Sewing");
});

describe.each([
  ["readBoundText", readBoundText],
  [
    "readBoundTextNow",
    async (path: string, origin: "own" | "project", bounds: TextBounds) =>
      readBoundTextNow(path, origin, bounds),
  ],
] as const)("%s", (_, read) => {
  const reasonOf = async (path: string, bounds: TextBounds) => {
    const file = await read(path, "project", bounds);
    return file.kind === "unreadable"
      ? file.diagnostic.message.split(" is left out: ")[1]
      : file.kind;
  };

  it("reads a file above the project only if the user or root owns it", async () => {
    const path = put("AGENTS.md", "above");
    const bounds = await textBoundsOf(dirs);
    expect(await reasonOf(path, bounds)).toBe("text");
    // Files of root are accepted, so root gives its file away; other users pretend to be another user.
    if (bounds.user === 0) chownSync(path, 4242, 4242);
    const other = bounds.user === 0 ? bounds : { ...bounds, user: (bounds.user ?? 0) + 1 };
    expect(await reasonOf(path, other)).toBe("it is above the project and belongs to another user");
  });

  it("does not treat a home under version control as the project's repository", async () => {
    put("home/.git/HEAD", "");
    mkdirSync(join(root, "home", "code"));
    const path = link("home/code/AGENTS.md", join(root, "home", ".ssh", "id"));
    const bounds = await textBoundsOf({ ...dirs, cwd: join(root, "home", "code") });
    expect(await reasonOf(path, bounds)).toBe("its real path is outside the project");
  });

  it("reads files of a worktree in the agent directory", async () => {
    const path = put("home/.pi/agent/worktrees/a/AGENTS.md", "inside");
    const bounds = await textBoundsOf({ ...dirs, cwd: dirname(path) });
    expect(await reasonOf(path, bounds)).toBe("text");
  });

  it("never reads the user's keys, even from the user's own folder", async () => {
    const path = link("home/.pi/agent/AGENTS.md", "auth.json");
    expect((await read(path, "own", await textBoundsOf(dirs))).kind).toBe("unreadable");
  });
});
