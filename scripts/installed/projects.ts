import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { PackedPackage } from "../publish/pack-packages.ts";
import { readManifest, root } from "../publish/published-packages.ts";
import { type PackageManager, packageManagers, writeProject } from "./package-managers.ts";
import { type Place, run } from "./place.ts";

export interface Project extends Place {
  readonly manager: PackageManager;
  readonly run: (words: readonly string[], input?: string) => string;
  readonly node: (file: string, ...words: readonly string[]) => string;
}

const wanted = /^@tau-agent\/(?:rpc-protocol|ai|agent|sessions|coding-agent|cli|pi)$/;

/** The last reply of the model in {@link greeting}. */
const greetingText = "Hello.";

/** Installs the packed packages into an empty project, with `node` as the user's Node.js. */
export function installProject(
  name: PackageManager["name"],
  node: string,
  packed: readonly PackedPackage[],
  place: Place,
): Project {
  const manager = packageManagers.find((one) => one.name === name);
  assert.ok(manager);
  const folder = join(realpathSync(place.folder), name);
  mkdirSync(folder);
  const env = { ...place.env, PATH: [node, ...bunFolders(), place.env.PATH].join(delimiter) };
  const [program = "", ...first] = manager.program ?? [name];
  const project: Project = {
    ...{ manager, folder, env },
    run: (words, input = "") => run(program, [...first, ...words], { cwd: folder, env, input }),
    node: (file, ...words) =>
      manager.node === undefined
        ? run("node", [file, ...words], { cwd: folder, env })
        : project.run([...manager.node, file, ...words]),
  };
  const ours = packed.filter(({ manifest }) => wanted.test(manifest.name));
  writeProject(folder, manager, ours);
  cpSync(new URL("programs/", import.meta.url), folder, { recursive: true });
  project.run(manager.install);
  return project;
}

/** Runs the command for its version and for an answer with a tool call, and the library for a run. */
export function tryProject(project: Project, version: string): void {
  const { manager, folder } = project;
  const { command } = manager;
  const own = readManifest("apps/cli").version;
  assert.equal(project.run([...command, "tau", "--version"]), own);
  writeFileSync(join(folder, "hay.txt"), "a needle\n");
  const scenario = [
    { content: [{ type: "toolCall", name: "grep", arguments: { pattern: "a nee.le" } }] },
    { when: { lastToolResultMatches: "hay.txt:1: a needle" }, content: greetingText },
  ];
  writeFileSync(join(folder, "hello.json"), JSON.stringify(scenario));
  const model = ["--provider", "scripted", "--model", "hello.json"];
  assert.equal(project.run([...command, "tau", ...model, "-p", "hi"]), greetingText);
  const [status, used = ""] = project.node("embed.mjs").split(" ");
  assert.equal(status, "completed");
  assert.ok(used.startsWith(version), `${manager.name} ran Node.js ${used}, not ${version}`);
}

/** The folders of the repository's own bun. */
function bunFolders(): string[] {
  const folder = join(root, "node_modules/@oven");
  return readdirSync(folder).map((name) => join(folder, name, "bin"));
}
