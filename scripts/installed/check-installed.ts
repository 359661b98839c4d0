import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import type { PackedPackage } from "../publish/pack-packages.ts";
import { readManifest } from "../publish/published-packages.ts";
import { nodeRelease } from "./node-release.ts";
import type { PackageManager } from "./package-managers.ts";
import { type Place, run, runToEnd } from "./place.ts";
import { installProject, type Project, tryProject } from "./projects.ts";

/**
 * Combines each package manager with one Node.js version that users may have: the oldest supported by the
 * packages, that of this repository, and the newest.
 */
const pairs: readonly (readonly [PackageManager["name"], string])[] = [
  ["npm", "24"],
  ["pnpm", "22.19.0"],
  ["yarn", "26"],
  ["bun", "24"],
];

export function checkInstalled(packed: readonly PackedPackage[], place: Place): string[] {
  return pairs.map(([name, version]) => {
    const isOwn = process.versions.node.startsWith(`${version}.`);
    const node = isOwn ? dirname(process.execPath) : nodeRelease(version, place);
    const started = performance.now();
    const project = installProject(name, node, packed, place);
    tryProject(project, version);
    if (name === "npm") checkThoroughly(project);
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    return `${name} with Node.js ${version} (${seconds} s)`;
  });
}

/** Checks that are needed in only one project. */
function checkThoroughly(project: Project): void {
  const { folder, env } = project;
  const packages = join(folder, "node_modules/@tau-agent");
  checkPi(project);

  const replies = project.node("wire-formats.mjs").split("\n");
  assert.ok(replies.length > 10, `only ${replies.length} wire formats were tried`);
  assert.deepEqual(
    replies.filter((line) => !line.endsWith(" Hello.")),
    [],
    "wire formats that fail in the packed library",
  );
  const command = ["node", join(packages, "cli/bin/tau.js")];
  assert.equal(project.node("vertex.mjs", ...command), "Hello.");

  for (const name of ["ai", "coding-agent", "cli"]) {
    const all = { ...env, LOAD_ALL: join(packages, name, "dist") };
    const words = ["load-all.mjs", "--mode", "rpc", "--provider", "scripted"];
    const { status, stderr } = runToEnd("node", words, { cwd: folder, env: all });
    assert.match(stderr, /^loaded \d+\n$/m, `not each module of ${name} loads (${status})`);
  }
  // Checks that the packages which the command loads on first use are installed.
  const dependencies = Object.keys(readManifest("cli", packages).dependencies ?? {});
  const imports = dependencies.map((name) => `await import(${JSON.stringify(name)});`).join("");
  run("node", ["--input-type=module", "--eval", imports], { cwd: folder, env });

  // The size was once 190 MB; docs/embedding.md states the current one.
  const [size] = run("du", ["-sm", join(folder, "node_modules")], { cwd: folder, env }).split("\t");
  assert.ok(Number(size) < 90, `the packages install ${size} MB`);
}

/** The host as clients of pi start it. */
function checkPi(project: Project): void {
  const { command } = project.manager;
  const words = [...command, "pi", "--mode", "rpc", "--provider", "scripted"];
  const frame = JSON.parse(project.run(words, '{"id":"1","type":"get_state"}\n'));
  assert.deepEqual([frame.id, frame.success, frame.data.model.provider], ["1", true, "scripted"]);
  assert.match(project.run([...command, "pi", "--version"]), /^\d+\.\d+\.\d+$/);
}
