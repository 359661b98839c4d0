import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makePlace } from "../support/place.ts";
import { binPath, runHost } from "../support/start-host.ts";

/** A vendor that refuses every key. */
async function refusingVendor() {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume().on("end", () => {
      const error = { type: "authentication_error", message: "invalid x-api-key" };
      response.writeHead(401, { "content-type": "application/json" });
      response.end(JSON.stringify({ type: "error", error }));
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const providers = { anthropic: { baseUrl: `http://127.0.0.1:${port}` } };
  return {
    files: { "agent/models.json": JSON.stringify({ providers }) },
    requests: () => requests,
  };
}

/** Text modes send no frames, so these runs record none. */
const run = runHost;

it("an invalid key is reported after one request, with its source and the page for a new key", async () => {
  const vendor = await refusingVendor();
  const argv = ["-p", "--provider", "anthropic", "--api-key", "sk-wrong-key-wrong-key", "hi"];
  const { code, stdout, stderr } = await run({ arguments: argv, files: vendor.files });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("anthropic at http://127.0.0.1:");
  expect(stderr).toContain("The key from --api-key was refused");
  expect(stderr).toContain("https://platform.claude.com/settings/keys");
  expect(stderr).not.toContain("sk-wrong");
  expect(vendor.requests()).toBe(1);
});

const closed = {
  baseUrl: "http://127.0.0.1:9/v1",
  api: "openai-completions",
  models: [{ id: "m" }],
};
type Mistake = readonly [
  name: string,
  argv: readonly string[],
  text: string,
  files?: Readonly<Record<string, string>>,
];
const mistakes: readonly Mistake[] = [
  ["no key", ["-p", "--provider", "anthropic", "hi"], "Set ANTHROPIC_API_KEY"],
  [
    "no server",
    ["-p", "--model", "house/m", "hi"],
    "Is the server running?",
    {
      "agent/models.json": JSON.stringify({ providers: { house: closed } }),
      "agent/settings.json": JSON.stringify({ "retry.enabled": false }),
    },
  ],
  [
    "a typo in a model",
    ["-p", "--model", "claude-sonet-4-5", "hi"],
    "Did you mean claude-sonnet-4-5?",
  ],
  [
    "a typo in a thinking level",
    ["-p", "--model", "anthropic/claude-sonnet-4-5:hihg", "hi"],
    '--model: "hihg" is not a thinking level; the nearest is high',
  ],
  [
    "a typo in a model with a level",
    ["-p", "--model", "claude-sonet-4-5:hihg", "hi"],
    "Model not found: claude-sonet-4-5:hihg",
  ],
  ["a typo in an option", ["-p", "--modle", "x", "hi"], "the nearest is --model"],
  ["a typo in a provider", ["-p", "--provider", "antropic", "hi"], "the nearest is anthropic"],
  ["a product as provider", ["-p", "--provider", "claude", "hi"], "the nearest is anthropic"],
  [
    "a product and a model",
    ["-p", "--provider", "gemini", "--model", "x", "hi"],
    "the nearest is google",
  ],
  ["a typo in a subcommand", ["instal", "npm:x"], "the nearest is install"],
  [
    "a bad setting",
    ["-p", "hi"],
    "settings.json:1: retry.maxRetries must be",
    { "agent/settings.json": '{"retry": {"maxRetries": "x"}}' },
  ],
  [
    "a models.json without providers",
    ["-p", "hi"],
    'write the providers as {"providers"',
    { "agent/models.json": '{"ollama": {}}' },
  ],
  [
    "a model without its name",
    ["--model", "--thinking", "high", "hi"],
    "--model: it needs a value",
  ],
  ["an empty model", ["-p", "--model", "", "hi"], "--model: it needs a value"],
  ["a negative count", ["config", "set", "retry.maxRetries", "-1"], "must be whole number ≥ 0"],
  ["a typo in a mode that is set", ["config", "set", "permissions.mode", "aks"], '"ask"'],
  ["a typo in a sandbox that is set", ["config", "set", "sandbox.mode", "workspce"], "workspace"],
];

it.each(mistakes.map(([name, argv, text, files = {}]) => ({ name, argv, text, files })))(
  "$name causes one clear sentence and exit code 1",
  ({ argv, text, files }) => {
    const place = makePlace({ files });
    onTestFinished(place.remove);
    const run = spawnSync(process.execPath, [binPath, ...argv], {
      cwd: place.cwd,
      env: { ...place.variables, ANTHROPIC_API_KEY: "" },
      input: "",
      encoding: "utf8",
    });
    expect({ code: run.status, stdout: run.stdout }).toEqual({ code: 1, stdout: "" });
    expect(run.stderr).toContain(text);
    expect(run.stderr).toMatch(/^tau: error: /);
    expect(run.stderr).not.toMatch(/^\s+at /m);
    expect(run.stderr.trim().split("\n").length).toBeLessThanOrEqual(4);
  },
);

it("an old Node version gets a sentence with the required version", () => {
  const folder = mkdtempSync(join(tmpdir(), "tau-old-node-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // The real program, in a Node that reports an old version.
  const program = join(folder, "bin/tau.mjs");
  mkdirSync(dirname(program));
  const pretend = 'Object.defineProperty(process.versions, "node", { value: "20.11.0" });';
  writeFileSync(join(folder, "old.cjs"), pretend);
  writeFileSync(program, readFileSync(binPath));
  const run = spawnSync(process.execPath, ["-r", join(folder, "old.cjs"), program, "--version"], {
    encoding: "utf8",
  });
  expect({ code: run.status, stdout: run.stdout }).toEqual({ code: 1, stdout: "" });
  expect(run.stderr).toMatch(/^tau: error: .*22\.19.*20\.11\.0/);
});
