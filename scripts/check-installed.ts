/**
 * What users install, as they install it: the command line and `pi` are packed, installed with npm
 * into an empty folder, and started there. Needs pnpm on the PATH, as `pnpm run` puts it there.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tau-installed-"));
const { HOME: _, ...environment } = process.env;
const env = {
  ...environment,
  // npm keeps its cache, but the host finds none of this user's files.
  npm_config_cache: execFileSync("npm", ["config", "get", "cache"], { encoding: "utf8" }).trim(),
  HOME: folder,
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
};

/** What users of a package have no use for. */
const unneeded =
  /(?<!conformance\/extensions\/[\w-]+)\.ts$|\.map$|\.tsbuildinfo$|\.test\.|__fixtures__|\/src\//;

function run(program: string, words: readonly string[], input = ""): string {
  const options = { cwd: folder, env, input, encoding: "utf8", timeout: 120_000 } as const;
  return execFileSync(program, words, { ...options, stdio: ["pipe", "pipe", "inherit"] });
}

/** Packs one of ours; returns the archive. */
function pack(name: string): string {
  const destination = join(folder, "packed", name.replaceAll("/", "-"));
  mkdirSync(destination, { recursive: true });
  execFileSync("pnpm", ["pack", "--pack-destination", destination], {
    cwd: join(root, name),
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [file = ""] = readdirSync(destination);
  return join(destination, file);
}

/** Packs a command; libraries have their sources with them, which editors show. */
function packCommand(name: string): string {
  const archive = pack(name);
  const files = run("tar", ["-tzf", archive]).trim().split("\n");
  const found = files.filter((path) => unneeded.test(path));
  assert.deepEqual(found, [], `${name} packs what its users do not need`);
  assert.ok(files.includes("package/LICENSE"), `${name} packs no LICENSE`);
  return archive;
}

/** The library, as a program that embeds it installs it; its size is checked because it once was 190 MB. */
function checkLibrary(): void {
  const home = join(folder, "library");
  mkdirSync(home);
  writeFileSync(join(home, "package.json"), JSON.stringify({ name: "embedder", type: "module" }));
  const libraries = [
    "packages/rpc-protocol",
    "packages/ai",
    "packages/agent",
    "packages/coding-agent",
  ];
  const words = ["install", "--silent", "--no-audit", "--no-fund", "--prefer-offline"];
  run("npm", [...words, "--prefix", home, ...libraries.map(pack)]);
  const program = `import { createAgentSession } from "@tau-agent/coding-agent";
    const session = await createAgentSession({
      cwd: process.cwd(), session: { kind: "memory" }, provider: "scripted",
    });
    const { status } = await session.prompt("What is in this folder?");
    await session.dispose();
    console.log(status);`;
  writeFileSync(join(home, "embed.mjs"), program);
  assert.equal(run(process.execPath, [join(home, "embed.mjs")]), "completed\n");
  const [size] = run("du", ["-sm", join(home, "node_modules")]).split("\t");
  assert.ok(Number(size) < 90, `the library installs ${size} MB`);
}

try {
  checkLibrary();
  const archives = ["apps/cli", "packages/pi"].map(packCommand);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "user", private: true }));
  run("npm", ["install", "--silent", "--no-audit", "--no-fund", "--prefer-offline", ...archives]);
  const { version } = JSON.parse(readFileSync(join(root, "apps/cli/package.json"), "utf8"));
  for (const command of ["tau", "@tau-agent/cli"]) {
    assert.equal(run("npx", ["--no-install", command, "--version"]).trim(), version);
  }
  const scenario = join(folder, "hello.json");
  writeFileSync(scenario, JSON.stringify([{ content: "Hello." }]));
  const model = ["--provider", "scripted", "--model", scenario];
  for (const command of ["tau", "pi"]) {
    const asked = '{"id":"1","type":"get_state"}\n';
    const frame = JSON.parse(
      run("npx", ["--no-install", command, "--mode", "rpc", ...model], asked),
    );
    assert.deepEqual([frame.id, frame.success, frame.data.model.provider], ["1", true, "scripted"]);
    assert.equal(run("npx", ["--no-install", command, ...model, "-p", "hi"]), "Hello.\n");
  }
  assert.match(run("npx", ["--no-install", "pi", "--version"]), /^\d+\.\d+\.\d+\n$/);
  // The packages that load on first use are there.
  const installed = join(folder, "node_modules/@tau-agent/cli/package.json");
  const names = Object.keys(JSON.parse(readFileSync(installed, "utf8")).dependencies);
  const imports = names.map((name) => `await import(${JSON.stringify(name)});`).join("");
  run(process.execPath, ["--input-type=module", "--eval", imports]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write("The packed command line installs and starts.\n");
