import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import type { ResourceEntry } from "@tau-agent/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type DiscoverOptions, discoverExtensions } from "./discover.ts";

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-discover-"));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

function put(...paths: string[]): void {
  for (const path of paths) {
    const file = join(dir, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "");
  }
}

function manifest(folder: string, value: unknown): void {
  mkdirSync(join(dir, folder), { recursive: true });
  writeFileSync(join(dir, folder, "package.json"), JSON.stringify(value));
}

async function find(changes: Partial<DiscoverOptions> = {}, settings: readonly string[] = []) {
  const entries: ResourceEntry[] = settings.map((entry) => ({
    entry,
    scope: changes.part === "project" ? "project" : "user",
    baseDirectory: join(dir, "agent"),
  }));
  const { files, diagnostics } = await discoverExtensions({
    agentDirectory: join(dir, "agent"),
    cwd: join(dir, "project"),
    homeDirectory: dir,
    paths: [],
    entries,
    onlyNamed: false,
    part: "own",
    ...changes,
  });
  return {
    found: files.map(({ path }) => relative(dir, path)),
    scopes: files.map(({ scope }) => scope),
    messages: diagnostics.map(({ message }) => message),
  };
}

describe("the agent directory", () => {
  it("contributes its files and one level of folders with an index", async () => {
    put(
      "agent/extensions/b.ts",
      "agent/extensions/a.js",
      "agent/extensions/types.d.ts",
      "agent/extensions/notes.md",
      "agent/extensions/.hidden.ts",
      "agent/extensions/pack/index.ts",
      "agent/extensions/pack/helper.ts",
      "agent/extensions/deep/er/index.ts",
      "agent/extensions/node_modules/x/index.js",
    );
    expect((await find()).found).toEqual([
      "agent/extensions/a.js",
      "agent/extensions/b.ts",
      "agent/extensions/pack/index.ts",
    ]);
  });

  it("contributes what a package declares, and nothing for missing files", async () => {
    put("agent/extensions/pack/src/main.ts", "agent/extensions/pack/index.ts");
    manifest("agent/extensions/pack", { pi: { extensions: ["src/main.ts", "src/gone.ts"] } });
    const { found, messages } = await find();
    expect(found).toEqual(["agent/extensions/pack/src/main.ts"]);
    expect(messages).toEqual([expect.stringContaining("gone.ts")]);
  });

  it("survives a manifest that does not parse", async () => {
    put("agent/extensions/pack/index.ts", "agent/extensions/a.ts");
    writeFileSync(join(dir, "agent/extensions/pack/package.json"), "{");
    const { found, messages } = await find();
    expect(found).toEqual(["agent/extensions/a.ts", "agent/extensions/pack/index.ts"]);
    expect(messages).toHaveLength(1);
  });

  it("may be missing", async () => {
    expect(await find()).toEqual({ found: [], scopes: [], messages: [] });
  });
});

describe("settings", () => {
  it("name files, folders and patterns, which come before the standard folder", async () => {
    put("agent/extensions/a.ts", "agent/more/x.ts", "agent/more/y.ts", "agent/folder/index.ts");
    const { found } = await find({}, ["more/*.ts", "folder"]);
    expect(found).toEqual([
      "agent/more/x.ts",
      "agent/more/y.ts",
      "agent/folder/index.ts",
      "agent/extensions/a.ts",
    ]);
  });

  it("exclude files with ! and -, and + includes what a pattern excluded", async () => {
    put("agent/extensions/a.ts", "agent/extensions/b.ts", "agent/extensions/c.ts");
    const { found } = await find({}, [
      "!*.ts",
      "+extensions/b.ts",
      "+extensions/c.ts",
      "-extensions/c.ts",
    ]);
    expect(found).toEqual(["agent/extensions/b.ts"]);
  });
});

describe("the command line", () => {
  it("comes first, and is the only source if nothing else is to be loaded", async () => {
    put("agent/extensions/a.ts", "project/mine.ts");
    expect(await find({ paths: ["mine.ts"] })).toMatchObject({
      found: ["project/mine.ts", "agent/extensions/a.ts"],
      scopes: ["temporary", "user"],
    });
    expect((await find({ paths: ["mine.ts"], onlyNamed: true })).found).toEqual([
      "project/mine.ts",
    ]);
  });

  it("is an error if it names a missing file", async () => {
    const { messages } = await find({ paths: ["gone.ts"] });
    expect(messages).toEqual([expect.stringContaining("project/gone.ts")]);
  });
});

it("includes a project only in its own part, and its older folder, too", async () => {
  put("agent/extensions/a.ts", "project/.pi/extensions/p.ts", "project/.pi/agent/extensions/q.ts");
  expect((await find({ part: "project" })).found).toEqual([
    "project/.pi/extensions/p.ts",
    "project/.pi/agent/extensions/q.ts",
  ]);
});

it("counts a file once, even if it is reachable by several paths", async () => {
  put("agent/extensions/a.ts");
  symlinkSync(join(dir, "agent/extensions/a.ts"), join(dir, "agent/extensions/z.ts"));
  expect((await find({ paths: [join(dir, "agent/extensions/a.ts")] })).found).toEqual([
    "agent/extensions/a.ts",
  ]);
});
