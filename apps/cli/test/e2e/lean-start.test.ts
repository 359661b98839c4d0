import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { recordFrames } from "../recording/record-host.ts";
import { binPath } from "../support/start-host.ts";

/** Modules that the first answers do not need and that take milliseconds to load (row `start`). */
const heavy = /crypto|fs\/promises|fs\/streams|readline|child_process|http|undici|worker/;

it("loads no expensive part of Node to answer initialize and get_state", () => {
  const folder = mkdtempSync(join(tmpdir(), "tau-lean-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const list = join(folder, "loaded.json");
  const preload = join(folder, "preload.cjs");
  writeFileSync(
    preload,
    `const { writeFileSync } = require("node:fs");
    const before = new Set(process.moduleLoadList);
    const write = process.stdout.write;
    const note = () => writeFileSync(${JSON.stringify(list)}, JSON.stringify(
      process.moduleLoadList.filter((name) => !before.has(name))));
    process.stdout.write = function (...given) { note(); return write.apply(this, given); };`,
  );
  const lines = ['{"type":"initialize","stream":"delta"}', '{"id":"1","type":"get_state"}'];
  // Without the preloaded recorder, which itself loads what this test looks for.
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--require", preload, binPath, "--mode", "rpc", "--no-session"],
    {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, PI_CODING_AGENT_DIR: join(folder, "agent") },
      input: `${lines.join("\n")}\n`,
      encoding: "utf8",
    },
  );
  expect(stderr).toBe("");
  const answers = stdout.trimEnd().split("\n");
  recordFrames(answers.map((line) => `${line}\n`));
  expect(answers.map((line) => (JSON.parse(line) as { command: string }).command)).toEqual([
    "initialize",
    "get_state",
  ]);
  const loaded = JSON.parse(readFileSync(list, "utf8")) as string[];
  expect(loaded.length).toBeGreaterThan(0);
  expect(loaded.filter((name) => heavy.test(name))).toEqual([]);
});

/** The code of a file and of those it imports or runs. */
function codeFrom(file: URL, seen = new Set<string>()): string[] {
  if (seen.has(file.href)) return [];
  seen.add(file.href);
  const code = readFileSync(file, "utf8");
  // A chunk that is a script does not import; the module in its place does.
  if (file.href.endsWith(".script.js")) return [code];
  const named = [...code.matchAll(/(?:from|import)"(\.\/[^"]+)"|\("([^"]+\.script\.js)"/g)];
  const files = named.map(([, imported, script]) => new URL(imported ?? script ?? "", file));
  return [code, ...files.flatMap((each) => codeFrom(each, seen))];
}

function codeOfStart(): string[] {
  return codeFrom(new URL("../../dist/cli.js", import.meta.url));
}

it("starts from three files and wraps none of their modules in a function", () => {
  const files = codeOfStart();
  // What runs scripts, the helpers of esbuild, and the program, which is a script.
  expect(files).toHaveLength(3);
  expect(files.join("").match(/\(\(\)=>\{"use strict";/g) ?? []).toEqual([]);
});

it("collects garbage once before it answers get_state", () => {
  const folder = mkdtempSync(join(tmpdir(), "tau-lean-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const models = [{ id: "small" }];
  const own = { baseUrl: "http://127.0.0.1:9", api: "openai-completions", apiKey: "key", models };
  writeFileSync(join(folder, "models.json"), JSON.stringify({ providers: { own } }));
  const { stdout } = spawnSync(
    process.execPath,
    ["--trace-gc", binPath, "--mode", "rpc", "--no-session", "--model", "own/small"],
    {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, PI_CODING_AGENT_DIR: folder },
      input: '{"id":"1","type":"get_state"}\n',
      encoding: "utf8",
    },
  );
  const [before = "", answer] = stdout.split('"type":"response"');
  expect(answer).toContain('"command":"get_state"');
  // Each collection copies half a megabyte to new pages, and takes a twentieth of a start (row `start-memory`).
  expect(before.match(/Scavenge|Mark-Compact/g)).toEqual(["Scavenge"]);
});

it("starts from code that is ASCII, because V8 keeps other code in twice the memory", () => {
  // esbuild escapes every other character, but not in a regular expression.
  expect(
    codeOfStart()
      .join("")
      .match(/[^\0-\x7f].{0,40}/g) ?? [],
  ).toEqual([]);
});

/** The code of each file that a host loads until its first prompt has ended. */
async function codeOfPrompt(mcpServers?: object): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "tau-lean-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const list = join(folder, "loaded");
  const preload = join(folder, "preload.cjs");
  writeFileSync(
    preload,
    `const { appendFileSync } = require("node:fs");
    require("node:module").registerHooks({ load: (url, context, next) => {
      appendFileSync(${JSON.stringify(list)}, url + "\\n");
      return next(url, context);
    } });`,
  );
  if (mcpServers !== undefined) {
    writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers }));
  }
  const host = spawn(
    process.execPath,
    ["--require", preload, binPath, "--mode", "rpc", "--no-session", "--provider", "scripted"],
    {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        NODE_OPTIONS: process.env.NODE_OPTIONS,
        HOME: folder,
        PI_CODING_AGENT_DIR: folder,
      },
      stdio: ["pipe", "pipe", "ignore"],
    },
  );
  const frames = createInterface({ input: host.stdout })[Symbol.asyncIterator]();
  host.stdin.write('{"id":"1","type":"prompt","message":"hello"}\n');
  for (;;) {
    const { value = "" } = await frames.next();
    if (JSON.parse(value).type === "agent_end") break;
  }
  host.stdin.end();
  await new Promise((resolve) => host.once("exit", resolve));
  const files = readFileSync(list, "utf8").split("\n");
  return files
    .filter((url) => url.startsWith("file:"))
    .flatMap((url) => scriptsOf(readFileSync(fileURLToPath(url), "utf8")));
}

/** The code of a module, and that of the script it runs. */
function scriptsOf(code: string): string[] {
  const [, script] = /\("([^"]+\.script\.js)"/.exec(code) ?? [];
  if (script === undefined) return [code];
  return [code, readFileSync(new URL(`../../dist/${script}`, import.meta.url), "utf8")];
}

it("loads few files for a first prompt", async () => {
  const code = await codeOfPrompt();
  expect(code.length).toBeGreaterThan(3);
  expect(code.length).toBeLessThan(30);
});

/** Texts in the code of MCP servers and of their library, wherever the bundle puts them. */
const marks = { ours: "is being started again", library: "notifications/initialized" };

const server = { command: process.execPath, args: ["-e", "process.stdin.resume()"], timeout: 1 };

it.each([
  ["nothing of MCP where no server is configured", undefined, { ours: false, library: false }],
  [
    "it for a server, once the first command is answered",
    { one: server },
    { ours: true, library: true },
  ],
])("loads %s", async (_, mcpServers, expected) => {
  const code = await codeOfPrompt(mcpServers);
  const isLoaded = (mark: string): boolean => code.some((text) => text.includes(mark));
  expect({ ours: isLoaded(marks.ours), library: isLoaded(marks.library) }).toEqual(expected);
});
