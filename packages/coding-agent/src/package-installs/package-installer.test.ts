import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SettingsStore } from "@tau-agent/system";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { PackageInstaller } from "./package-installer.ts";
import { programRunner } from "./run-program.ts";

const TIMEOUT_MS = 120_000;
const versions = ["1.0.0", "1.1.0"];
const tarballs = new Map<string, Buffer>();
let latest = "1.0.0";
let requests: string[] = [];
let registry: Server;
let address = "";
let made = "";

beforeAll(async () => {
  made = mkdtempSync(join(tmpdir(), "tau-registry-"));
  for (const version of versions) tarballs.set(version, pack("pi-thing", version));
  registry = createServer(({ url = "" }, response) => {
    requests.push(url);
    const [, version = ""] = /-\/pi-thing-(.*)\.tgz$/.exec(url) ?? [];
    const tarball = tarballs.get(version);
    if (tarball !== undefined) response.end(tarball);
    else if (url === "/pi-thing") response.end(JSON.stringify(packument()));
    else response.writeHead(404).end("{}");
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => registry.once("listening", resolve));
  address = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
}, TIMEOUT_MS);
afterAll(() => {
  registry.close();
  rmSync(made, { recursive: true });
});

function pack(name: string, version: string): Buffer {
  const folder = join(made, version, "package");
  mkdirSync(join(folder, "extensions"), { recursive: true });
  const scripts = { install: `touch '${join(made, "script-ran")}'` };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version, scripts }));
  writeFileSync(join(folder, "extensions/one.ts"), "export default () => {};");
  const file = join(made, `${version}.tgz`);
  execFileSync("tar", ["-czf", file, "-C", join(made, version), "package"]);
  return readFileSync(file);
}

function packument() {
  const all = versions.map((version) => {
    const integrity = `sha512-${createHash("sha512")
      .update(tarballs.get(version) ?? "")
      .digest("base64")}`;
    const dist = { tarball: `${address}/pi-thing/-/pi-thing-${version}.tgz`, integrity };
    return [version, { name: "pi-thing", version, dist, hasInstallScript: true }] as const;
  });
  return { name: "pi-thing", "dist-tags": { latest }, versions: Object.fromEntries(all) };
}

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "tau-packages-"));
  mkdirSync(join(home, "agent"));
  mkdirSync(join(home, "project"));
  latest = "1.0.0";
  requests = [];
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const settingsOf = (folder = "agent") =>
  JSON.parse(readFileSync(join(home, folder, "settings.json"), "utf8")).packages;

async function installer(scope: "user" | "project" = "user", PATH = process.env.PATH) {
  const agentDirectory = join(home, "agent");
  const cwd = join(home, "project");
  const settings = await SettingsStore.load({ agentDirectory, cwd, isProjectTrusted: true });
  const variables = {
    PATH,
    HOME: home,
    npm_config_registry: address,
    npm_config_cache: join(made, "cache"),
    GIT_CONFIG_NOSYSTEM: "1",
  };
  const place = { agentDirectory, cwd, homeDirectory: home, scope };
  return new PackageInstaller(settings, place, programRunner(variables));
}

describe("a package from a registry", { timeout: TIMEOUT_MS }, () => {
  it("is installed without its scripts, pinned, listed, updated and removed", async () => {
    const installed = await (await installer()).install("npm:pi-thing");
    expect(installed).toMatchObject({ source: "npm:pi-thing", pin: "1.0.0", isInstalled: true });
    expect(existsSync(join(installed.path, "extensions/one.ts"))).toBe(true);
    expect(existsSync(join(made, "script-ran"))).toBe(false);
    expect(settingsOf()).toEqual(["npm:pi-thing"]);
    const manifest = readFileSync(join(home, "agent/npm/package.json"), "utf8");
    expect(JSON.parse(manifest).dependencies).toEqual({ "pi-thing": "1.0.0" });

    latest = "1.1.0";
    expect(await (await installer()).list()).toMatchObject([{ pin: "1.0.0" }]);
    expect(await (await installer()).update()).toMatchObject([{ pin: "1.1.0" }]);

    await (await installer()).remove("npm:pi-thing");
    expect(settingsOf()).toEqual([]);
    expect(existsSync(installed.path)).toBe(false);
  });

  it("stays at the version named in its source", async () => {
    latest = "1.1.0";
    await (await installer("project")).install("npm:pi-thing@1.0.0");
    expect(await (await installer("project")).update()).toMatchObject([{ pin: "1.0.0" }]);
    expect(settingsOf("project/.pi")).toEqual(["npm:pi-thing@1.0.0"]);
    expect(existsSync(join(home, "agent/settings.json"))).toBe(false);
  });

  it("is listed only once it is installed", async () => {
    await expect((await installer()).install("npm:pi-nothing")).rejects.toMatchObject({
      code: "package_failed",
      message: expect.stringContaining("404"),
    });
    expect(existsSync(join(home, "agent/settings.json"))).toBe(false);
    await expect((await installer("user", "/nowhere")).install("npm:pi-thing")).rejects.toThrow(
      "npm is not installed",
    );
  });

  it("is listed once when two processes install it at the same time", async () => {
    const both = [await installer(), await installer()];
    await Promise.all(both.map((one) => one.install("npm:pi-thing")));
    expect(settingsOf()).toEqual(["npm:pi-thing"]);
  });
});

describe("a package from a repository", { timeout: TIMEOUT_MS }, () => {
  let repository: string;
  const git = (...words: string[]) => {
    const own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
    return execFileSync("git", [...own, ...words], { cwd: repository, encoding: "utf8" });
  };
  const commit = (text: string) => {
    writeFileSync(join(repository, "extensions/one.ts"), text);
    git("add", "-A");
    git("commit", "-qm", text);
    return git("rev-parse", "HEAD").slice(0, 12);
  };

  beforeEach(() => {
    repository = join(home, "owner/repository");
    mkdirSync(join(repository, "extensions"), { recursive: true });
    git("init", "-q", "-b", "main");
  });

  it("stays at its commit until it is updated, or always if the source names one", async () => {
    const first = commit("one");
    git("tag", "v1");
    const source = `git:file://${repository}`;
    const { path, pin } = await (await installer()).install(source);
    expect(pin).toBe(first);
    await (await installer("project")).install(`${source}@v1`);

    const second = commit("two");
    expect(await (await installer()).update(source)).toMatchObject([{ pin: second }]);
    expect(readFileSync(join(path, "extensions/one.ts"), "utf8")).toBe("two");
    expect(await (await installer("project")).update()).toMatchObject([{ pin: first }]);

    await (await installer()).remove(source);
    expect(existsSync(path)).toBe(false);
    expect(settingsOf()).toEqual([]);
  });

  const evil = () => {
    const marker = join(home, "marker");
    const program = `#!/bin/sh\ntouch '${marker}'\nexec git "$@"\n`;
    writeFileSync(join(repository, "evil.sh"), program, { mode: 0o755 });
    return marker;
  };
  const manifest = (more: object) =>
    writeFileSync(
      join(repository, "package.json"),
      JSON.stringify({ name: "thing", version: "1.0.0", ...more }),
    );

  it.each([
    ["git+file:", () => `git+file://${join(home, "owner/other")}`],
    ["a short name", () => "owner/other"],
    ["an address of a repository", () => "https://127.0.0.1/owner/other.git"],
    ["ssh", () => "git@127.0.0.1:owner/other.git"],
  ])("runs no program from its .npmrc for a dependency by %s", async (_, spec) => {
    const marker = evil();
    execFileSync("git", ["init", "-q", join(home, "owner/other")]);
    writeFileSync(join(repository, ".npmrc"), "git=./evil.sh\nignore-scripts=false\n");
    manifest({ dependencies: { other: spec() } });
    commit("one");
    const installed = (await installer()).install(`git:file://${repository}`);
    await expect(installed).rejects.toMatchObject({
      code: "package_failed",
      message: expect.stringContaining("it depends on other from git"),
    });
    expect(existsSync(marker)).toBe(false);
  });

  it("runs nothing for a git dependency of a dependency, and leaves its .npmrc in place", async () => {
    const marker = evil();
    const settings = "git=./evil.sh\nregistry=http://127.0.0.1:1/\n";
    writeFileSync(join(repository, ".npmrc"), settings);
    mkdirSync(join(repository, "inner"));
    const dependencies = { other: `git+file://${join(home, "owner/other")}` };
    const inner = { name: "inner", version: "1.0.0", dependencies };
    writeFileSync(join(repository, "inner/package.json"), JSON.stringify(inner));
    manifest({ dependencies: { inner: "file:./inner" } });
    commit("one");
    const source = `git:file://${repository}`;
    await expect((await installer()).install(source)).rejects.toMatchObject({
      code: "package_failed",
    });
    expect(existsSync(marker)).toBe(false);
    manifest({ dependencies: { "pi-thing": "1.0.0" } });
    commit("two");
    const { path } = await (await installer()).install(source);
    expect(existsSync(join(path, "node_modules/pi-thing/package.json"))).toBe(true);
    expect(readFileSync(join(path, ".npmrc"), "utf8")).toBe(settings);
  });

  it("leaves nothing behind when it cannot be cloned completely", async () => {
    commit("one");
    await expect(
      (await installer()).install(`git:file://${repository}@gone`),
    ).rejects.toMatchObject({
      code: "package_failed",
    });
    const left = readdirSync(join(home, "agent"), { recursive: true }).map(String);
    expect(left.filter((name) => /repository/.test(name))).toEqual([]);
    expect(existsSync(join(home, "agent/settings.json"))).toBe(false);
  });
});

describe("a path", () => {
  it("is used in place, and its files stay when it is removed", async () => {
    const folder = join(home, "project/own");
    mkdirSync(folder);
    await (await installer()).install("./own");
    await (await installer("project")).install("./own");
    expect(settingsOf()).toEqual([folder]);
    expect(settingsOf("project/.pi")).toEqual(["../own"]);
    await (await installer("project")).remove("./own");
    expect(settingsOf("project/.pi")).toEqual([]);
    expect(existsSync(folder)).toBe(true);
  });
});

describe("hostile sources", () => {
  it.each([
    "npm:../../x",
    "npm:--global",
    "npm:x@file:../../y",
    "npm:x@--registry=http://evil",
    "npm:node_modules",
    "git:../../x",
    "git:host.org",
    "git:ext::sh -c id",
    "git:host.org/../..",
    "git:-u/x/y",
    "nowhere",
    "",
  ])("refuses %j before anything runs", async (source) => {
    const one = await installer("user", "/nowhere");
    await expect(one.install(source)).rejects.toMatchObject({ code: "invalid_option" });
    expect(readdirSync(join(home, "agent")).filter((name) => !name.endsWith(".lock"))).toEqual([]);
  });

  it("select no registry and no program from a project's package folder", async () => {
    mkdirSync(join(home, "project/.pi/npm"), { recursive: true });
    const planted = "registry=http://127.0.0.1:1/\ngit=./evil.sh\n";
    writeFileSync(join(home, "project/.pi/npm/.npmrc"), planted);
    await (await installer("project")).install("npm:pi-thing@1.0.0");
    expect(settingsOf("project/.pi")).toEqual(["npm:pi-thing@1.0.0"]);
  });

  it("remove nothing outside when named in a project's settings", async () => {
    mkdirSync(join(home, "project/.pi"));
    const packages = ["git:../../..", "npm:../../../victim"];
    writeFileSync(join(home, "project/.pi/settings.json"), JSON.stringify({ packages }));
    mkdirSync(join(home, "project/victim"));
    for (const source of packages) {
      await expect((await installer("project")).remove(source)).rejects.toMatchObject({
        code: "invalid_option",
      });
    }
    expect(existsSync(join(home, "project/victim"))).toBe(true);
  });

  it.each([
    [".pi", "."],
    [".pi/git", "."],
    [".pi/git/host.org", "."],
    [".pi/npm", "."],
    [".pi/npm/node_modules", "."],
    [".pi/npm/package.json", "package.json"],
    [".pi/settings.json", "settings.json"],
  ])("are not installed through a project's link at %s", async (place, target) => {
    const victim = join(home, "victim");
    mkdirSync(join(victim, "owner/repository"), { recursive: true });
    writeFileSync(join(victim, "owner/repository/kept"), "kept");
    writeFileSync(join(victim, "settings.json"), "{}");
    writeFileSync(join(victim, "package.json"), "{}");
    const before = readdirSync(victim, { recursive: true });
    mkdirSync(dirname(join(home, "project", place)), { recursive: true });
    symlinkSync(join(victim, target), join(home, "project", place));
    const one = await installer("project");
    for (const source of ["npm:pi-thing", "git:host.org/owner/repository"]) {
      const isConcerned = !/git|npm/.test(place) || place.includes(source.slice(0, 3));
      if (!isConcerned) continue;
      const refused = { code: "invalid_option", message: expect.stringContaining(place) };
      await expect(one.install(source)).rejects.toMatchObject(refused);
    }
    expect(readdirSync(victim, { recursive: true })).toEqual(before);
    expect(readFileSync(join(victim, "settings.json"), "utf8")).toBe("{}");
  });
});
