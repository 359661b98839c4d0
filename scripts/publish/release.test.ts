import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { obstacle } from "./obstacle.ts";
import { publishedPackages, readManifest, root } from "./published-packages.ts";

/** A new repository with copies of everything that a release reads and writes. */
function copyForRelease(): string {
  const copy = mkdtempSync(join(tmpdir(), "tau-release-"));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...words], {
      cwd: copy,
      encoding: "utf8",
    });
  const kept =
    /(?:^|\/)package\.json$|^pnpm-workspace|^\.changeset\/config|^scripts\/(?:version|publish)|version\.ts$|client\.py$/;
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  for (const path of files.split("\n").filter((name) => kept.test(name))) {
    cpSync(join(root, path), join(copy, path));
  }
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "Start");
  return copy;
}

it("a release has the same version everywhere and a changelog in each package", () => {
  const copy = copyForRelease();
  const change = publishedPackages().map(({ manifest }) => `"${manifest.name}": minor`);
  const text = `---\n${change.join("\n")}\n---\n\nSomething new.\n`;
  writeFileSync(join(copy, ".changeset/of-a-test.md"), text);
  const PATH = [join(root, "node_modules/.bin"), process.env.PATH].join(delimiter);
  execFileSync(process.execPath, ["scripts/version.ts"], {
    cwd: copy,
    env: { ...process.env, PATH },
    stdio: "pipe",
  });

  const { version } = readManifest("apps/cli", copy);
  const [major, minor = ""] = readManifest("apps/cli").version.split(".");
  expect(version).toBe(`${major}.${Number(minor) + 1}.0`);
  const packages = publishedPackages(copy);
  expect(packages.map(({ manifest }) => manifest.version)).toEqual(packages.map(() => version));
  for (const { folder } of packages) {
    const changelog = readFileSync(join(copy, folder, "CHANGELOG.md"), "utf8");
    expect(changelog).toContain(`## ${version}\n`);
    expect(changelog).toContain("Something new.");
  }
  for (const [file, line] of [
    ["apps/cli/src/process/version.ts", `export const VERSION = "${version}";`],
    ["packages/system/src/base/version.ts", `export const VERSION = "${version}";`],
    ["clients/python/tau_rpc/client.py", `__version__ = "${version}"`],
  ] as const) {
    expect(readFileSync(join(copy, file), "utf8")).toContain(line);
  }
});

it("nothing is published until the repository has an address and the packages have changelogs", () => {
  const copy = copyForRelease();
  const manifest = readManifest("", copy);
  const fillIn = (url: string) =>
    writeFileSync(
      join(copy, "package.json"),
      JSON.stringify({ ...manifest, repository: { type: "git", url } }),
    );
  fillIn("");
  expect(obstacle(copy)).toMatch(/fill in repository\.url in package\.json/);
  fillIn("https://example.com/tau/tau");
  const packages = publishedPackages(copy);
  for (const { folder } of packages) rmSync(join(copy, folder, "CHANGELOG.md"), { force: true });
  expect(obstacle(copy)).toMatch(/apps\/cli has no CHANGELOG\.md\. Run pnpm run version:packages/);
  for (const { folder } of packages) writeFileSync(join(copy, folder, "CHANGELOG.md"), "");
  expect(obstacle(copy)).toBeUndefined();
});
