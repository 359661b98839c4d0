import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { lintArchive } from "./lint-archive.ts";
import type { PackedPackage } from "./pack-packages.ts";
import { type Manifest, readManifest } from "./published-packages.ts";
import { unreachedFiles } from "./unreached-files.ts";

/** Fields that npm and users' tools display or read. */
const required = [
  ...["description", "keywords", "license", "author", "type", "engines", "exports", "files"],
  "publishConfig",
];

/** The packages that include the pages. */
const documented = new Set(["@tau-agent/coding-agent", "@tau-agent/cli"]);

const bundling = new Set(["@tau-agent/ai", "@tau-agent/coding-agent", "@tau-agent/cli"]);

/** The allowed top-level files of a package; any other is a mistake in `files`. */
const allowed =
  /^(?:LICENSE|README\.md|CHANGELOG\.md|package\.json|llms\.txt|docs\/[\w-]+\.md|(?:bin|dist|generated|src)\/.+)$/;

/** Files that are useless to anyone who installs a package. */
const unneeded = /\.test\.|__fixtures__|\.tsbuildinfo$|\.js\.map$/;

/** A command needs no sources or types; those of libraries are for editors. */
const unneededInCommands =
  /(?<!conformance\/extensions\/[\w-]+)\.ts$|\.map$|(?<!dist\/conformance)\/src\//;

/** The bytes that libraries may add for other platforms without a way to them. */
const MOST_UNREACHED_BYTES = 4_096;

export function checkPacked(one: PackedPackage, folder: string, env: NodeJS.ProcessEnv): void {
  mkdirSync(folder, { recursive: true });
  const unpacked = spawnSync("tar", ["-xzf", one.archive, "-C", folder]);
  assert.equal(unpacked.status, 0, `${one.archive} cannot be unpacked`);
  const home = join(folder, "package");
  const { files, warnings } = publishDry(home, env);
  assert.deepEqual(warnings, [], `npm would correct or warn of ${one.manifest.name}`);
  const packed = readManifest("package", folder);
  checkFiles(one, packed, files);
  lintArchive(one.archive, !isCommand(packed, files), env);
  const unreached = unreachedFiles(home, entriesOf(packed), files);
  const bytes = unreached.reduce((sum, path) => sum + statSync(join(home, path)).size, 0);
  const what = `${one.manifest.name} packs ${bytes} bytes of code that nothing loads: ${unreached}`;
  assert.ok(bytes <= MOST_UNREACHED_BYTES, what);
}

function checkFiles({ manifest }: PackedPackage, packed: Manifest, files: readonly string[]): void {
  const { name } = manifest;
  const missing = required.filter((member) => packed[member] === undefined);
  assert.deepEqual(missing, [], `package.json of ${name} lacks fields`);
  const unreplaced = /"(?:workspace|catalog):/.exec(JSON.stringify(packed))?.[0];
  assert.equal(unreplaced, undefined, `package.json of ${name} has ranges that only pnpm knows`);
  assert.ok(packed.files?.includes("CHANGELOG.md"), `${name} would not publish its CHANGELOG.md`);
  const named = [
    ...["LICENSE", "README.md", ...(bundling.has(name) ? ["dist/THIRD-PARTY-LICENSES.txt"] : [])],
    ...(documented.has(name) ? ["llms.txt", "docs/quickstart.md"] : []),
    ...entriesOf(packed),
  ];
  const absent = named.filter((path) => !files.includes(path));
  assert.deepEqual(absent, [], `${name} does not pack what users need`);
  const isOnlyCommand = isCommand(packed, files);
  const isWrong = (path: string) =>
    !allowed.test(path) || unneeded.test(path) || (isOnlyCommand && unneededInCommands.test(path));
  assert.deepEqual(files.filter(isWrong), [], `${name} packs what its users do not need`);
}

/** Whether a package has commands only, nothing to import. */
function isCommand({ bin }: Manifest, files: readonly string[]): boolean {
  return bin !== undefined && !files.some((path) => path.endsWith("index.d.ts"));
}

/** The files that commands and `exports` name. */
function entriesOf({ bin, exports }: Manifest): string[] {
  const named = [...Object.values(bin ?? {}), ...paths(exports)];
  return named.map((path) => path.replace(/^\.\//, ""));
}

/** The files named in `exports`, except sources, which are for this repository and for editors. */
function paths(exports: unknown): string[] {
  if (typeof exports === "string") return [exports];
  return Object.values(exports ?? {}).flatMap(paths);
}

/** The warnings that npm prints before publishing. */
function publishDry(
  cwd: string,
  env: NodeJS.ProcessEnv,
): { readonly files: string[]; readonly warnings: string[] } {
  const words = ["publish", "--dry-run", "--json", "--loglevel=warn", "--ignore-scripts"];
  const { stdout, stderr, status } = spawnSync("npm", words, { cwd, env, encoding: "utf8" });
  assert.equal(status, 0, `npm publish --dry-run failed: ${stderr}`);
  const said = JSON.parse(stdout);
  // npm 11 groups the output by package.
  const { files } = said.files === undefined ? Object.values<typeof said>(said)[0] : said;
  const warnings = stderr
    .split("\n")
    .filter((line) => /^npm warn publish/i.test(line) && !line.includes("to be logged in"));
  return { files: files.map(({ path }: { path: string }) => path), warnings };
}
