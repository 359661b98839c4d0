import { spawnSync } from "node:child_process";
import {
  chownSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { recordFrames } from "../recording/record-host.ts";
import { binPath } from "../support/start-host.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tau-kept-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

interface Run {
  /** A file that Node loads before the program. */
  readonly preload?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a host to its end; the commands it answered. */
function run(command: object, { preload, env }: Run = {}): string[] {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      ...(preload === undefined ? [] : ["--require", preload]),
      ...[binPath, "--mode", "rpc", "--no-session", "--provider", "scripted"],
    ],
    {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        NODE_COMPILE_CACHE: join(folder, "kept"),
        ...env,
      },
      input: `${JSON.stringify(command)}\n`,
      encoding: "utf8",
    },
  );
  expect(stderr).toBe("");
  const frames = stdout.trimEnd().split("\n");
  recordFrames(frames.map((line) => `${line}\n`));
  return frames.flatMap((line) => {
    const { type, command: answered } = JSON.parse(line) as { type: string; command: string };
    return type === "response" ? [answered] : [];
  });
}

/** The files of kept code: those of scripts, whose code Node does not keep. */
function kept() {
  const all = readdirSync(join(folder, "kept"), { recursive: true, encoding: "utf8" });
  const files = all.filter((name) => name.includes(".script.js")).toSorted();
  return files.map((name) => {
    const path = join(folder, "kept", name);
    const { size, ino } = statSync(path);
    return { path, size, ino };
  });
}

const getState = { type: "get_state" };
const prompt = { type: "prompt", message: "hello" };

/** As if time had passed. */
function age(): void {
  const then = new Date(Date.now() - 60_000);
  for (const { path } of kept()) utimesSync(path, then, then);
}

const sizeOf = (files: ReturnType<typeof kept>) => files.reduce((sum, { size }) => sum + size, 0);

it("keeps the code that a start runs, and takes it for the next start", () => {
  expect(run(getState)).toEqual(["get_state"]);
  const first = kept();
  expect(run(getState)).toEqual(["get_state"]);

  expect(first.length).toBeGreaterThan(0);
  expect(kept()).toEqual(first);
});

it("adds what later processes run, and loses nothing of it", () => {
  run(getState);
  const ofStart = sizeOf(kept());
  age();
  expect(run(prompt)).toEqual(["prompt"]);
  const ofPrompt = kept();
  age();
  run(getState);

  expect(sizeOf(ofPrompt)).toBeGreaterThan(ofStart * 1.1);
  expect(kept()).toEqual(ofPrompt);
});

it.each([0, 1_000, 50_000])(
  "starts beside code cut off after %i bytes, and replaces it",
  (length) => {
    run(getState);
    const whole = kept();
    for (const { path } of whole) truncateSync(path, length);

    expect(run(getState)).toEqual(["get_state"]);

    expect(sizeOf(kept())).toBeGreaterThan(sizeOf(whole) * 0.9);
  },
);

it.runIf(process.geteuid?.() === 0)("does not run code that another user has kept", () => {
  run(getState);
  const before = kept();
  for (const { path } of before) chownSync(path, 1, 1);

  expect(run(getState)).toEqual(["get_state"]);

  const after = kept();
  expect(after.map(({ path }) => path)).toEqual(before.map(({ path }) => path));
  expect(after.map(({ path }) => statSync(path).uid)).toEqual(before.map(() => 0));
});

it("keeps nothing that V8 would refuse, because flags have changed since the start", () => {
  const preload = join(folder, "flags.cjs");
  writeFileSync(
    preload,
    `setImmediate(() => require("node:v8").setFlagsFromString("--semi-space-growth-factor=1"));`,
  );
  expect(run(getState, { preload })).toEqual(["get_state"]);
  expect(kept()).toEqual([]);
});

it.each([
  ["Node keeps none", { NODE_DISABLE_COMPILE_CACHE: "1" }],
  ["the place is a file", { NODE_COMPILE_CACHE: binPath }],
])("starts if %s", (_, env) => {
  expect(run(getState, { env })).toEqual(["get_state"]);
});
