import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isWorkspaceError, type WorkspaceErrorCode } from "@tau-agent/rpc-protocol/workspace";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLocalWorkspace, type LocalWorkspace } from "./local-workspace.ts";

let folder: string;
let workspace: LocalWorkspace;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "tau-local-")));
  workspace = createLocalWorkspace({ cwd: folder });
});
afterEach(async () => {
  await workspace.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const at = (...names: string[]) => join(folder, ...names);
const bytes = (text: string) => new TextEncoder().encode(text);
const text = (found: Uint8Array) => new TextDecoder().decode(found);

async function failure(
  call: Promise<unknown>,
): Promise<{ code: WorkspaceErrorCode; path?: string }> {
  const error: unknown = await call.then(
    () => new Error("it did not fail"),
    (reason: unknown) => reason,
  );
  if (!isWorkspaceError(error)) throw error;
  return error.path === undefined ? { code: error.code } : { code: error.code, path: error.path };
}

/** Calls that open `path`, each in a different way. */
const openers: readonly [string, (path: string) => Promise<unknown>][] = [
  ["read", (path) => workspace.read(path)],
  ["list", (path) => workspace.list(path)],
  ["remove", (path) => workspace.remove(path)],
  ["rename", (path) => workspace.rename(path, at("other"))],
];

describe("a path", () => {
  it.each([...openers, ["stat", (path: string) => workspace.stat(path)] as const])(
    "must be absolute for %s",
    async (_, open) => {
      expect(await failure(open("a.txt"))).toEqual({ code: "failed", path: "a.txt" });
      expect((await failure(open(at("a\0b")))).code).toBe("failed");
    },
  );

  it.each(openers)("without a file is reported as not found, by name, by %s", async (_, open) => {
    expect(await failure(open(at("none")))).toEqual({ code: "not_found", path: at("none") });
  });
});

it("rejects an aborted call with the code aborted, before it does anything", async () => {
  const options = { signal: AbortSignal.abort() };
  expect((await failure(workspace.read(at("a"), options))).code).toBe("aborted");
  expect((await failure(workspace.write(at("a"), bytes("x"), options))).code).toBe("aborted");
  expect((await failure(workspace.search({ ...grep("x"), ...options }))).code).toBe("aborted");
  expect(existsSync(at("a"))).toBe(false);
});

describe("stat", () => {
  it("reports the kind of file, with its real path", async () => {
    writeFileSync(at("a"), "12345", { mode: 0o640 });
    symlinkSync("a", at("link"));
    const { mtimeMs } = statSync(at("a"));
    const file = { kind: "file", size: 5, mode: 0o640, modifiedAt: mtimeMs, realPath: at("a") };
    expect(await workspace.stat(at("a"))).toEqual(file);
    expect(await workspace.stat(at("link"))).toEqual(file);
    const link = await workspace.stat(at("link"), { followLinks: false });
    expect(link).toMatchObject({ kind: "symlink", realPath: at("link") });
    expect((await workspace.stat(folder))?.kind).toBe("directory");
    expect((await workspace.stat("/dev/null"))?.kind).toBe("other");
  });

  it("is undefined for missing files, dangling links and loops", async () => {
    symlinkSync("none", at("dangling"));
    symlinkSync("loop", at("loop"));
    writeFileSync(at("file"), "");
    for (const name of ["none", "dangling", "loop", "file/below", "none/below"]) {
      expect(await workspace.stat(at(name))).toBeUndefined();
    }
  });
});

describe("list", () => {
  it("returns names and kinds, and links as links", async () => {
    mkdirSync(at("folder"));
    writeFileSync(at("file"), "");
    symlinkSync("folder", at("link"));
    execFileSync("mkfifo", [at("pipe")]);
    const entries = [...(await workspace.list(folder))].sort((a, b) => (a.name < b.name ? -1 : 1));
    expect(entries).toEqual([
      { name: "file", kind: "file" },
      { name: "folder", kind: "directory" },
      { name: "link", kind: "symlink" },
      { name: "pipe", kind: "other" },
    ]);
  });

  it("fails for a file", async () => {
    writeFileSync(at("file"), "");
    expect(await failure(workspace.list(at("file")))).toEqual({
      code: "not_a_directory",
      path: at("file"),
    });
  });

  it("returns names that are not UTF-8 with replacement characters; they cannot be opened", async () => {
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/odd`), Buffer.from([0xff])]), "x");
    expect(await workspace.list(folder)).toEqual([{ name: "odd\uFFFD", kind: "file" }]);
    expect((await failure(workspace.read(at("odd\uFFFD")))).code).toBe("not_found");
  });
});

describe("read", () => {
  it("returns all bytes or a range, and none past the end", async () => {
    const content = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    writeFileSync(at("small"), content);
    const large = Buffer.alloc(3 * 1024 * 1024 + 7, "0123456789");
    writeFileSync(at("large"), large);
    for (const [name, all] of [
      ["small", content],
      ["large", large],
    ] as const) {
      expect(Buffer.compare(await workspace.read(at(name)), all)).toBe(0);
      const part = await workspace.read(at(name), { offset: 10, length: 20 });
      expect(Buffer.compare(part, all.subarray(10, 30))).toBe(0);
      const end = await workspace.read(at(name), { offset: all.length - 3, length: 100 });
      expect(Buffer.compare(end, all.subarray(-3))).toBe(0);
      expect(await workspace.read(at(name), { offset: all.length + 5 })).toHaveLength(0);
      expect(await workspace.read(at(name), { length: 0 })).toHaveLength(0);
    }
    expect((await failure(workspace.read(at("small"), { offset: -1 }))).code).toBe("failed");
  });

  it("reads empty files, and kernel files, which have no size", async () => {
    writeFileSync(at("empty"), "");
    expect(await workspace.read(at("empty"))).toHaveLength(0);
    expect(text(await workspace.read("/proc/self/status"))).toContain("State:");
    expect(text(await workspace.read("/proc/self/status", { length: 5 }))).toBe("Name:");
  });

  it("fails for anything other than a file, without waiting", async () => {
    execFileSync("mkfifo", [at("pipe")]);
    expect((await failure(workspace.read(folder))).code).toBe("is_a_directory");
    expect((await failure(workspace.read(at("pipe")))).code).toBe("failed");
    expect((await failure(workspace.read("/dev/zero"))).code).toBe("failed");
    expect((await failure(workspace.read("/proc/kmsg"))).code).toMatch(/failed|not_allowed/);
  });

  it("fails for a file of more than 2 GiB, but reads a part of it", async () => {
    writeFileSync(at("huge"), "start");
    truncateSync(at("huge"), 2 * 1024 ** 3 + 1);
    expect((await failure(workspace.read(at("huge")))).code).toBe("too_large");
    expect(text(await workspace.read(at("huge"), { length: 5 }))).toBe("start");
  });
});

describe("write", () => {
  it("replaces a file in one step: readers that have the old one open keep it", async () => {
    writeFileSync(at("a"), "old");
    const before = statSync(at("a")).ino;
    await workspace.write(at("a"), bytes("new"));
    expect(readFileSync(at("a"), "utf8")).toBe("new");
    expect(statSync(at("a")).ino).not.toBe(before);
    expect(readdirSync(folder)).toEqual(["a"]);
  });

  it("keeps the mode of a file it replaces; a new file gets 0666 less umask, or the requested mode", async () => {
    writeFileSync(at("a"), "old");
    chmodSync(at("a"), 0o4751);
    await workspace.write(at("a"), bytes("new"), { mode: 0o600 });
    expect(statSync(at("a")).mode & 0o7777).toBe(0o4751);
    await workspace.write(at("b"), bytes("new"));
    expect(statSync(at("b")).mode & 0o777).toBe(0o666 & ~process.umask());
    await workspace.write(at("c"), bytes("new"), { mode: 0o700 });
    expect(statSync(at("c")).mode & 0o777).toBe(0o700 & ~process.umask());
  });

  it("follows links, even dangling ones, and makes parents", async () => {
    symlinkSync("deep/er/file", at("link"));
    await workspace.write(at("link"), bytes("through"));
    expect(readlinkSync(at("link"))).toBe("deep/er/file");
    expect(readFileSync(at("deep/er/file"), "utf8")).toBe("through");
    await workspace.write(at("x/y/z"), bytes("made"));
    expect(readFileSync(at("x/y/z"), "utf8")).toBe("made");
  });

  it("writes a file with several names in place", async () => {
    writeFileSync(at("a"), "old");
    linkSync(at("a"), at("b"));
    await workspace.write(at("a"), bytes("new"));
    expect(readFileSync(at("b"), "utf8")).toBe("new");
  });

  it("reports what prevents the write, and leaves it unchanged", async () => {
    mkdirSync(at("folder"));
    writeFileSync(at("file"), "old");
    execFileSync("mkfifo", [at("pipe")]);
    const codeOf = async (path: string) => (await failure(workspace.write(path, bytes("x")))).code;
    expect(await codeOf(at("folder"))).toBe("is_a_directory");
    expect(await codeOf(at("file/below"))).toBe("not_a_directory");
    expect(await codeOf(at("pipe"))).toBe("failed");
    expect(await codeOf("/dev/full")).toBe("no_space");
    expect(readFileSync(at("file"), "utf8")).toBe("old");
    expect(readdirSync(folder).sort()).toEqual(["file", "folder", "pipe"]);
  });

  it("accepts content in parts, and shows nothing before the last one", async () => {
    writeFileSync(at("a"), "old");
    const upload = await workspace.openUpload(at("a"));
    await upload.append(bytes("one "));
    await upload.append(bytes("two"));
    expect(readFileSync(at("a"), "utf8")).toBe("old");
    await upload.finish();
    expect(readFileSync(at("a"), "utf8")).toBe("one two");
    const other = await workspace.openUpload(at("a"));
    await other.append(bytes("never"));
    await other.discard();
    expect(readFileSync(at("a"), "utf8")).toBe("one two");
    expect(readdirSync(folder)).toEqual(["a"]);
  });
});

describe("changing paths", () => {
  it("createDirectory makes parents; it accepts an existing directory, but not a file", async () => {
    await workspace.createDirectory(at("a/b/c"));
    await workspace.createDirectory(at("a/b/c"));
    expect(lstatSync(at("a/b/c")).isDirectory()).toBe(true);
    writeFileSync(at("file"), "");
    const within = { allow: [folder], deny: [] };
    for (const options of [{}, { within }]) {
      expect((await failure(workspace.createDirectory(at("file"), options))).code).toBe("exists");
      const below = await failure(workspace.createDirectory(at("file/x"), options));
      expect(below.code).toBe("not_a_directory");
    }
  });

  it("rename replaces files but never folders", async () => {
    writeFileSync(at("a"), "a");
    writeFileSync(at("b"), "b");
    mkdirSync(at("empty"));
    mkdirSync(at("folder"));
    await workspace.rename(at("a"), at("b"));
    expect(readFileSync(at("b"), "utf8")).toBe("a");
    expect((await failure(workspace.rename(at("b"), at("empty")))).code).toBe("exists");
    expect((await failure(workspace.rename(at("folder"), at("empty")))).code).toBe("exists");
    await workspace.rename(at("folder"), at("moved"));
    expect(existsSync(at("moved"))).toBe(true);
  });

  it("remove deletes links but not their targets, and full folders only on request", async () => {
    mkdirSync(at("full"));
    writeFileSync(at("full/file"), "x");
    symlinkSync("full", at("link"));
    await workspace.remove(at("link"), { recursive: true });
    expect(existsSync(at("full/file"))).toBe(true);
    expect((await failure(workspace.remove(at("full")))).code).toBe("not_empty");
    symlinkSync(folder, at("full/up"));
    await workspace.remove(at("full"), { recursive: true });
    expect(readdirSync(folder)).toEqual([]);
    mkdirSync(at("empty"));
    await workspace.remove(at("empty"));
    expect(existsSync(at("empty"))).toBe(false);
  });
});

describe("within", () => {
  let outside: string;
  beforeEach(() => {
    outside = realpathSync(mkdtempSync(join(tmpdir(), "tau-outside-")));
    mkdirSync(at("in/secret"), { recursive: true });
    writeFileSync(join(outside, "file"), "outside");
    writeFileSync(at("in/secret/file"), "secret");
    writeFileSync(at("in/file"), "inside");
    symlinkSync(outside, at("in/away"));
    symlinkSync("secret", at("in/hidden"));
    linkSync(at("in/secret/file"), at("in/twin"));
  });
  afterEach(() => rmSync(outside, { recursive: true, force: true }));

  const reach = () => ({
    within: { allow: [at("in")], deny: [at("in/secret"), at("in/secret/file")] },
  });
  const calls: readonly [string, (name: string) => Promise<unknown>][] = [
    ["read", (name) => workspace.read(at(`in/${name}`), reach())],
    ["stat", (name) => workspace.stat(at(`in/${name}`), reach())],
    ["write", (name) => workspace.write(at(`in/${name}`), bytes("x"), reach())],
    ["remove", (name) => workspace.remove(at(`in/${name}`), reach())],
    ["rename", (name) => workspace.rename(at(`in/${name}`), at("in/other"), reach())],
    ["rename to", (name) => workspace.rename(at("in/file"), at(`in/${name}`), reach())],
    ["createDirectory", (name) => workspace.createDirectory(at(`in/${name}-new/x`), reach())],
    ["list", (name) => workspace.list(at("in", name, ".."), reach())],
  ];

  it.each(calls)(
    "checks the file that %s opens, following links, and names it",
    async (name, call) => {
      if (name !== "list") {
        const real = name === "createDirectory" ? "file-new" : "file";
        expect(await failure(call("away/file"))).toEqual({
          code: "not_allowed",
          path: join(outside, real),
        });
        expect(await failure(call("hidden/file"))).toMatchObject({ code: "not_allowed" });
      }
      expect(readFileSync(join(outside, "file"), "utf8")).toBe("outside");
      expect(readFileSync(at("in/secret/file"), "utf8")).toBe("secret");
      expect(readdirSync(outside)).toEqual(["file"]);
    },
  );

  it("allows files inside", async () => {
    expect(text(await workspace.read(at("in/file"), reach()))).toBe("inside");
    await workspace.write(at("in/new/file"), bytes("new"), reach());
    expect(readFileSync(at("in/new/file"), "utf8")).toBe("new");
    expect((await failure(workspace.list(folder, reach()))).code).toBe("not_allowed");
    expect(await workspace.list(at("in"), reach())).toHaveLength(6);
  });

  it("refuses a denied file under any name", async () => {
    expect((await failure(workspace.read(at("in/twin"), reach()))).code).toBe("not_allowed");
    const write = workspace.write(at("in/twin"), bytes("x"), reach());
    expect((await failure(write)).code).toBe("not_allowed");
  });

  it("searches only inside", async () => {
    const found = await workspace.search({ ...grep("s"), path: at("in"), ...reach() });
    expect(found.matches.map(({ path }) => path)).toEqual([at("in/file")]);
    const names = await workspace.search({
      kind: "find",
      pattern: "**",
      limit: 50,
      path: at("in"),
      ...reach(),
    });
    const paths = names.matches.map(({ path }) => path.slice(folder.length));
    expect(paths).not.toContain("/in/secret/file");
    expect(paths).toContain("/in/file");
  });

  it("also applies to roots of the workspace", async () => {
    const closed = createLocalWorkspace({ cwd: at("in"), roots: [at("in")] });
    expect((await failure(closed.read(join(outside, "file")))).code).toBe("not_allowed");
    expect(
      (await failure(closed.spawn({ command: "true", cwd: outside, onOutput() {} }))).code,
    ).toBe("not_allowed");
    const more = { within: { allow: ["/"], deny: [at("in/file")] } };
    expect((await failure(closed.read(at("in/file"), more))).code).toBe("not_allowed");
    expect((await failure(closed.read(at("in/away/file"), more))).code).toBe("not_allowed");
    await closed.dispose();
  });
});

function grep(pattern: string) {
  return { kind: "grep", pattern, path: folder, limit: 100 } as const;
}
