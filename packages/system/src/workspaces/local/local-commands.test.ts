import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { WorkspaceSpawnOptions } from "@tau-agent/rpc-protocol/workspace";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, ownSeconds, processesWith } from "../../processes/__fixtures__/workspace.ts";
import { createLocalWorkspace, type LocalWorkspace } from "./local-workspace.ts";

let folder: string;
let workspace: LocalWorkspace;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "tau-local-")));
  workspace = createLocalWorkspace({
    cwd: folder,
    environment: { PATH: process.env.PATH, GIVEN: "given", TAKEN: "taken" },
  });
});
afterEach(async () => {
  await workspace.dispose();
  rmSync(folder, { recursive: true, force: true });
});

async function start(options: Omit<WorkspaceSpawnOptions, "onOutput">) {
  const output = { stdout: "", stderr: "" };
  const process = await workspace.spawn({
    ...options,
    onOutput: (bytes, stream) => {
      output[stream] += Buffer.from(bytes).toString();
    },
  });
  return { process, output };
}

async function run(command: string | string[], options: Partial<WorkspaceSpawnOptions> = {}) {
  const { process, output } = await start({ ...options, command });
  const exit = await process.done;
  return { ...output, ...exit };
}

describe("spawn", () => {
  it("runs a string in the shell, and a list without a shell", async () => {
    const line = await run("echo out; echo err >&2; pwd; exit 3");
    expect(line).toEqual({ stdout: `out\n${folder}\n`, stderr: "err\n", exitCode: 3 });
    expect((await run(["printf", "%s|", "a b", "$HOME", "*"])).stdout).toBe("a b|$HOME|*|");
    mkdirSync(join(folder, "sub"));
    expect((await run("pwd", { cwd: join(folder, "sub") })).stdout).toBe(`${folder}/sub\n`);
  });

  it("adds variables to those of the workspace, and removes those set to null", async () => {
    const environment = { ADDED: "added", TAKEN: null, GIVEN: "changed" };
    const { stdout } = await run('echo "$GIVEN,$ADDED,$TAKEN."', { environment });
    expect(stdout).toBe("changed,added,.\n");
  });

  it("gives a command an empty input, or one to write to", async () => {
    expect((await run("cat; echo end")).stdout).toBe("end\n");
    const { process, output } = await start({ command: "cat", stdin: "open" });
    await process.write(Buffer.from("one "));
    await process.write(Buffer.from("two"));
    await process.endInput();
    expect(await process.done).toEqual({ exitCode: 0 });
    expect(output.stdout).toBe("one two");
    await process.write(Buffer.from("late"));
    await process.endInput();
  });

  it("reports the signal that ended a command", async () => {
    expect(await run("kill -9 $$")).toMatchObject({ exitCode: null, signal: "SIGKILL" });
  });

  it("ends the process tree at its timeout, kills what ignores SIGTERM after 2 s, and starts nothing more", async () => {
    const seconds = ownSeconds(51);
    const line = `trap '' TERM; sleep ${seconds} & sleep ${seconds}; touch next`;
    const started = performance.now();
    const ended = await run(line, { timeoutMs: 200 });
    expect(ended).toMatchObject({ exitCode: null, signal: "SIGKILL", timedOut: true });
    expect(performance.now() - started).toBeGreaterThan(2_000);
    expect(await eventually(() => processesWith(seconds).length === 0)).toBe(true);
    expect(existsSync(join(folder, "next"))).toBe(false);
  });

  it("lets an aborted command clean up", async () => {
    const controller = new AbortController();
    const { process, output } = await start({
      command: "trap 'echo cleaned; exit 5' TERM; echo ready; while :; do sleep 0.05; done",
      signal: controller.signal,
    });
    await eventually(() => output.stdout === "ready\n");
    controller.abort();
    expect(await process.done).toMatchObject({ exitCode: null, signal: "SIGTERM" });
    expect(output.stdout).toBe("ready\ncleaned\n");
  });

  it("keeps the exit code of a command that ended by itself before its timeout", async () => {
    const ended = await run("sleep 630 & exit 4", { timeoutMs: 300 });
    expect(ended).toMatchObject({ exitCode: 4 });
    expect(ended.timedOut).toBeUndefined();
  });

  it("is done at most 1 s after the command's end if another process holds its output", async () => {
    const started = performance.now();
    const ended = await run("(while :; do echo tick; sleep 0.03; done) & echo main");
    expect(ended).toMatchObject({ exitCode: 0 });
    expect(performance.now() - started).toBeLessThan(2_500);
  });

  it("sends signals to the command and all its descendants", async () => {
    const line = (name: string) => `trap 'echo ${name}; exit' USR1; while :; do sleep 0.05; done`;
    const { process, output } = await start({
      command: `sh -c "${line("child")}" & ${line("leader")}`,
    });
    await pause(300);
    await process.kill("SIGUSR1");
    expect(await process.done).toMatchObject({ exitCode: 0 });
    expect(output.stdout.split("\n").sort()).toEqual(["", "child", "leader"]);
    await expect(process.kill("SIGNOTHING")).rejects.toMatchObject({ code: "failed" });
    const other = await start({ command: "sleep 630; echo next" });
    await other.process.kill();
    expect(await other.process.done).toEqual({ exitCode: null, signal: "SIGTERM" });
    expect(other.output.stdout).toBe("");
  });

  it("holds output back until the listener is ready", async () => {
    let taken = 0;
    let isWaiting = false;
    const process = await workspace.spawn({
      command: "head -c 3000000 /dev/zero; echo end >&2",
      onOutput: async (bytes, stream) => {
        if (stream === "stderr") return;
        expect(isWaiting).toBe(false);
        isWaiting = true;
        taken += bytes.length;
        await pause(1);
        isWaiting = false;
      },
    });
    expect(await process.done).toEqual({ exitCode: 0 });
    expect(taken).toBe(3_000_000);
  });

  it("rejects if the command cannot be started", async () => {
    const failing = (options: Partial<WorkspaceSpawnOptions>) =>
      start({ command: "true", ...options }).then(
        () => undefined,
        (error: unknown) => error,
      );
    const none = join(folder, "none");
    expect(await failing({ cwd: none })).toMatchObject({ code: "not_found", path: none });
    expect(await failing({ command: ["/no/such/program"] })).toMatchObject({ code: "not_found" });
    expect(await failing({ command: [] })).toMatchObject({ code: "failed" });
    expect(await failing({ signal: AbortSignal.abort() })).toMatchObject({ code: "aborted" });
    expect(await failing({ cwd: "relative" })).toMatchObject({ code: "failed" });
  });
});

describe("search", () => {
  const write = (files: Record<string, string>) => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(join(folder, name, ".."), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
  };
  const grep = (pattern: string, options = {}) =>
    workspace.search({ kind: "grep", pattern, path: folder, limit: 100, ...options });

  it("finds lines with their context, each once, in the order of paths", async () => {
    write({
      "a/x.txt": "1\n2 hit\n3\n4\n5 hit\n6 hit\n7\n",
      "b.txt": "hit\r\n",
      ".gitignore": "no\n",
    });
    write({ no: "hit\n" });
    expect(await grep("hit", { context: 1 })).toEqual({
      matches: [
        { path: `${folder}/a/x.txt`, line: 2, text: "2 hit", before: ["1"], after: ["3"] },
        { path: `${folder}/a/x.txt`, line: 5, text: "5 hit", before: ["4"] },
        { path: `${folder}/a/x.txt`, line: 6, text: "6 hit", after: ["7"] },
        { path: `${folder}/b.txt`, line: 1, text: "hit" },
      ],
      truncated: false,
    });
  });

  it("reports whether there are more matches than the limit", async () => {
    write({ "a.txt": "hit\nhit\nhit\n" });
    expect((await grep("hit", { limit: 3 })).truncated).toBe(false);
    const { matches, truncated } = await grep("hit", { limit: 2 });
    expect([matches.length, truncated]).toEqual([2, true]);
  });

  it("respects glob, literal text and case options, for a single file, too", async () => {
    write({ "a.txt": "A.B\naxb\n", "a.md": "a.b\n" });
    const count = async (pattern: string, options = {}) =>
      (await grep(pattern, options)).matches.length;
    expect(await count("a.b")).toBe(2);
    expect(await count("a.b", { literal: true })).toBe(1);
    expect(await count("a.b", { ignoreCase: true, glob: "*.txt" })).toBe(2);
    expect(await count("a.b", { path: join(folder, "a.md") })).toBe(1);
  });

  it("finds names; the paths of folders end with a slash", async () => {
    write({ "src/a.ts": "", "src/b/c.ts": "", "d.md": "" });
    const find = (pattern: string, limit = 100) =>
      workspace.search({ kind: "find", pattern, path: folder, limit });
    expect(await find("**/*.ts")).toEqual({
      matches: [{ path: `${folder}/src/a.ts` }, { path: `${folder}/src/b/c.ts` }],
      truncated: false,
    });
    expect((await find("src/*")).matches[1]).toEqual({ path: `${folder}/src/b/` });
    expect((await find("*.ts", 1)).truncated).toBe(true);
  });

  it("names a path that cannot be searched", async () => {
    write({ file: "" });
    const none = join(folder, "none");
    await expect(grep("x", { path: none })).rejects.toMatchObject({
      code: "not_found",
      path: none,
    });
    const find = { kind: "find", pattern: "*", limit: 1, path: join(folder, "file") } as const;
    await expect(workspace.search(find)).rejects.toMatchObject({ code: "not_a_directory" });
    await expect(grep("(")).rejects.toThrow(/^Cannot search for "\(": /);
  });
});

it("describes the machine", async () => {
  const { platform, shell, limited, user } = await workspace.describe();
  expect({ platform, limited }).toEqual({ platform: process.platform, limited: [] });
  expect(shell).toBe("/bin/bash");
  expect(user).toMatch(/./);
  expect(workspace.id).toBe("local");
});
