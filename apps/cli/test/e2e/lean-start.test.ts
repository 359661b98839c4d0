import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { recordFrames } from "../recording/record-host.ts";
import { binPath } from "../support/start-host.ts";

/** What no first answer needs, and takes milliseconds to load (row `start`). */
const heavy = /crypto|fs\/promises|fs\/streams|readline|child_process|http|undici|worker/;

it("loads no heavy part of Node to answer initialize and get_state", () => {
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
  // Without the preloaded recorder, which loads what this test looks for.
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
