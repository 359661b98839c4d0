import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { SettingsStore } from "@tau-agent/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { discoverExtensions } from "../../extensions/load/discover.ts";
import { PromptResources } from "../resources.ts";
import { findNamedPackage, findPackages, type PackageDirs } from "./find-packages.ts";

let root: string;
let dirs: PackageDirs & { readonly cwd: string };
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tau-packages-"));
  dirs = { homeDirectory: root, agentDirectory: join(root, "agent"), cwd: join(root, "project") };
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(files: Readonly<Record<string, unknown>>): void {
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  }
}

const skill = (name: string) => `---\nname: ${name}\ndescription: About ${name}\n---\n`;

/** Everything that packages contain, by kind. */
async function load(isProjectTrusted = false) {
  const settings = await SettingsStore.load({ ...dirs, isProjectTrusted });
  const { packages, diagnostics } = await findPackages(settings, dirs);
  const parts = await Promise.all(
    (["own", "project"] as const).map((part) =>
      discoverExtensions({
        ...dirs,
        part,
        paths: [],
        entries: [],
        onlyNamed: false,
        packages: {
          all: async () => packages,
          named: (source, isTrusted) => findNamedPackage(source, dirs, isTrusted),
        },
      }),
    ),
  );
  const resources = new PromptResources({ ...dirs, settings });
  return {
    extensions: parts.flatMap(({ files }) => files.map(({ path }) => relative(root, path))),
    skills: (await resources.skills()).map(({ name }) => name),
    templates: (await resources.templates()).map(({ name }) => name),
    problems: [...diagnostics, ...parts.flatMap((part) => part.diagnostics)].map(
      ({ message }) => message,
    ),
  };
}

describe("a resource package", () => {
  it("provides exactly what its manifest lists, with globs and exclusions", async () => {
    put({
      "agent/settings.json": { packages: ["npm:@me/x@1.0.0"] },
      "agent/npm/node_modules/@me/x/package.json": {
        pi: { extensions: ["./src/*.ts", "!src/off.ts"], skills: ["./skills"] },
      },
      "agent/npm/node_modules/@me/x/src/on.ts": "",
      "agent/npm/node_modules/@me/x/src/off.ts": "",
      "agent/npm/node_modules/@me/x/extensions/unlisted.ts": "",
      "agent/npm/node_modules/@me/x/skills/look/SKILL.md": skill("look"),
      "agent/npm/node_modules/@me/x/prompts/unlisted.md": "hi",
    });
    expect(await load()).toEqual({
      extensions: ["agent/npm/node_modules/@me/x/src/on.ts"],
      skills: ["look"],
      templates: [],
      problems: [],
    });
  });

  it("provides its folders if it has no list, filtered by the setting", async () => {
    const source = "git:github.com/me/x";
    const there = "agent/git/github.com/me/x";
    put({
      "agent/settings.json": { packages: [{ source, extensions: ["a.ts"], skills: [] }] },
      [`${there}/package.json`]: { pi: { video: "x.mp4" } },
      [`${there}/extensions/a.ts`]: "",
      [`${there}/extensions/b.ts`]: "",
      [`${there}/skills/look/SKILL.md`]: skill("look"),
      [`${there}/prompts/ask.md`]: "hi",
    });
    expect(await load()).toEqual({
      extensions: [`${there}/extensions/a.ts`],
      skills: [],
      templates: ["ask"],
      problems: [],
    });
  });

  it("may be a folder or file in another place", async () => {
    put({
      "agent/settings.json": { packages: ["../one", "../two.ts"] },
      "one/index.ts": "",
      "two.ts": "",
    });
    expect((await load()).extensions).toEqual(["one/index.ts", "two.ts"]);
  });

  it("takes precedence over the user's own if it belongs to a trusted project", async () => {
    put({
      "agent/settings.json": { packages: ["npm:x"] },
      "agent/npm/node_modules/x/index.ts": "",
      "project/.pi/settings.json": { packages: ["npm:x", "npm:y"] },
      "project/.pi/npm/node_modules/x/index.ts": "",
      "project/.pi/npm/node_modules/y/skills/look/SKILL.md": skill("look"),
    });
    expect(await load()).toMatchObject({
      extensions: ["agent/npm/node_modules/x/index.ts"],
      skills: [],
    });
    expect(await load(true)).toMatchObject({
      extensions: ["project/.pi/npm/node_modules/x/index.ts"],
      skills: ["look"],
    });
  });

  it("leads to one diagnostic with the command to install it if it is missing", async () => {
    put({ "agent/settings.json": { packages: ["npm:gone", "./nowhere"] } });
    const command = `npm install --ignore-scripts --prefix ${join(dirs.agentDirectory, "npm")} -- gone`;
    expect((await load()).problems).toEqual([
      `The package npm:gone is not installed; to install it: ${command}`,
      `There is no package at ${join(dirs.agentDirectory, "nowhere")}`,
    ]);
  });
});

it("loads a package named on the command line from where it is installed", async () => {
  put({ "agent/npm/node_modules/x/index.ts": "" });
  const find = async (path: string) =>
    discoverExtensions({
      ...dirs,
      part: "own",
      paths: [path],
      entries: [],
      onlyNamed: true,
      packages: {
        all: async () => [],
        named: (source, isTrusted) => findNamedPackage(source, dirs, isTrusted),
      },
    });
  expect((await find("npm:x")).files).toMatchObject([
    { scope: "temporary", package: { source: "npm:x" } },
  ]);
  expect((await find("npm:gone")).diagnostics).toMatchObject([
    { severity: "error", message: expect.stringContaining("npm install") },
  ]);
});

it("takes skills and templates from a folder or package of -e, even if these are turned off", async () => {
  put({
    "project/kit/package.json": { pi: { extensions: ["./src/a.ts"], skills: ["./know"] } },
    "project/kit/src/a.ts": "",
    "project/kit/other.ts": "",
    "project/kit/know/sew/SKILL.md": skill("sew"),
    "project/kit/prompts/unlisted.md": "",
    "project/plain/prompts/ask.md": "Ask $1",
    "project/plain/extensions/b.ts": "",
    "project/.pi/skills/other/SKILL.md": skill("other"),
    "agent/npm/node_modules/x/skills/knit/SKILL.md": skill("knit"),
  });
  const settings = await SettingsStore.load(dirs);
  const paths = ["kit", "./plain", "npm:x", "npm:gone", "nowhere", "plain/extensions/b.ts"];
  const texts = new PromptResources({ ...dirs, settings, packagePaths: paths, noSkills: true });
  expect((await texts.skills()).map(({ name }) => name)).toEqual(["sew", "knit"]);
  expect((await texts.templates()).map(({ name }) => name)).toEqual(["ask"]);
  expect(await texts.diagnostics()).toEqual([]);
  const { files } = await discoverExtensions({
    ...dirs,
    part: "own",
    paths: ["kit", "./plain"],
    entries: [],
    onlyNamed: true,
    packages: {
      all: async () => [],
      named: (source, isTrusted) => findNamedPackage(source, dirs, isTrusted),
    },
  });
  expect(files.map(({ path }) => relative(dirs.cwd, path))).toEqual([
    "kit/src/a.ts",
    "plain/extensions/b.ts",
  ]);
});

describe("a package on the command line that the project also has", () => {
  const find = (part: "own" | "project") =>
    discoverExtensions({
      ...dirs,
      part,
      paths: ["npm:x", "git:example.com/a/b"],
      entries: [],
      onlyNamed: true,
      packages: {
        all: async () => [],
        named: (source, isTrusted) => findNamedPackage(source, dirs, isTrusted),
      },
    });
  const pathsOf = ({ files }: { files: readonly { path: string }[] }) =>
    files.map(({ path }) => relative(root, path));

  it("is taken from the user's copy", async () => {
    put({
      "agent/npm/node_modules/x/index.ts": "",
      "agent/git/example.com/a/b/index.ts": "",
      "project/.pi/npm/node_modules/x/index.ts": "",
      "project/.pi/git/example.com/a/b/index.ts": "",
    });
    expect(pathsOf(await find("own"))).toEqual([
      "agent/npm/node_modules/x/index.ts",
      "agent/git/example.com/a/b/index.ts",
    ]);
    expect(pathsOf(await find("project"))).toEqual([]);
  });

  it("is taken from the project's only copy once the project is trusted", async () => {
    put({
      "project/.pi/npm/node_modules/x/index.ts": "",
      "project/.pi/git/example.com/a/b/index.ts": "",
    });
    const own = await find("own");
    expect(own.files).toEqual([]);
    expect(own.untrusted.map(({ message }) => message)).toEqual([
      expect.stringContaining("npm:x is only installed in the project"),
      expect.stringContaining("git:example.com/a/b is only installed in the project"),
    ]);
    expect(pathsOf(await find("project"))).toEqual([
      "project/.pi/npm/node_modules/x/index.ts",
      "project/.pi/git/example.com/a/b/index.ts",
    ]);
  });
});
