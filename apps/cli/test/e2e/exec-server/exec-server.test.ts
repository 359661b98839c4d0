import { spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { FrameLines, isWorkspaceError, type Workspace } from "@tau-agent/rpc-protocol/workspace";
import { isRunning } from "@tau-agent/system";
import { type CarrierOptions, connectWorkspace } from "@tau-agent/system/workspaces";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const isWindows = process.platform === "win32";
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const file = here("../../../dist/exec-server.js");
const program = [execPath, file];
const code = (error: unknown): unknown => Object(error).code;

let folder = "";
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "tau-exec-")));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const connect = (
  words: readonly string[] = [],
  { relay, ...options }: CarrierOptions & { relay?: object } = {},
) => {
  const between = relay === undefined ? [] : [execPath, here("relay.mjs"), JSON.stringify(relay)];
  return connectWorkspace({ command: [...between, ...program, ...words], cwd: folder }, options);
};

async function run(workspace: Workspace, command: string | readonly string[]) {
  const pieces: Uint8Array[] = [];
  const started = await workspace.spawn({ command, onOutput: (bytes) => void pieces.push(bytes) });
  const exit = await started.done;
  return { ...exit, output: Buffer.concat(pieces).toString() };
}

describe.skipIf(isWindows)("the exec server", () => {
  it("is one small file that runs under any name and on Node 20", async () => {
    expect(statSync(file).size).toBeLessThan(250 * 1024);
    for (const name of ["copy.js", "copy.mjs", "copy.cjs", "copy"]) {
      const copy = join(folder, name);
      copyFileSync(file, copy);
      const { status, stdout } = spawnSync("node", [copy, "--cwd", folder], { input: "" });
      expect(status, `${name} by the first node on the PATH`).toBe(0);
      expect(JSON.parse(String(stdout))).toMatchObject({ type: "ready", cwd: folder });
    }
    const { status, stderr } = spawnSync("node", [file, "--root", "/none/such"], { input: "" });
    expect([status, String(stderr)]).toEqual([
      2,
      "exec-server: error: Invalid option --root: it is not a folder: /none/such\n",
    ]);
  });

  it("opens files, runs commands and searches locally, without keys", async () => {
    const environment = { ...process.env, OTHER: "kept" };
    const workspace = await connect(["--cwd", folder], { environment });
    const path = join(folder, "a\nb 😀.txt");
    await workspace.write(path, Buffer.from("needle\n"));
    expect(readFileSync(path, "utf8")).toBe("needle\n");
    expect(await workspace.list(folder)).toContainEqual({ name: "a\nb 😀.txt", kind: "file" });
    const request = { kind: "grep", pattern: "needle", path: folder, limit: 5 } as const;
    expect(await workspace.search?.(request)).toMatchObject({ matches: [{ path, line: 1 }] });
    expect(await run(workspace, "pwd; echo $OTHER; exit 3")).toEqual({
      exitCode: 3,
      output: `${folder}\nkept\n`,
    });
    const variables = await run(workspace, ["env"]);
    expect(variables.output).not.toMatch(/_API_KEY=|^TAU_STORE=/m);
    await workspace.dispose();
  });

  it("removes keys from the environment on the other machine", async () => {
    const command = ["/bin/sh", "-c", 'OPENAI_API_KEY=secret TAU_STORE=secret exec "$@"', "sh"];
    const workspace = await connectWorkspace({ command: [...command, ...program], cwd: folder });
    expect((await run(workspace, ["env"])).output).not.toContain("secret");
    await workspace.dispose();
  });

  it("reads a part of a 2 GB file, and refuses to read more than 2 GiB", async () => {
    const workspace = await connect();
    const path = join(folder, "sparse");
    writeFileSync(path, "begin");
    truncateSync(path, 3 * 1024 ** 3);
    expect(await workspace.read(path, { offset: 2 * 1024 ** 3, length: 10 })).toHaveLength(10);
    expect(await workspace.read(path).catch(code)).toBe("too_large");
    expect(await workspace.read(path, { offset: 4 * 1024 ** 3 })).toHaveLength(0);
    rmSync(path);
    const large = Buffer.alloc(9 * 1024 * 1024, "0123456789");
    await workspace.write(path, large);
    expect(large.equals(readFileSync(path))).toBe(true);
    expect(large.equals(await workspace.read(path))).toBe(true);
    expect((await workspace.list(folder)).filter(({ name }) => name.endsWith(".tmp"))).toEqual([]);
    await workspace.dispose();
  });

  it("opens nothing outside its roots, through any link", async () => {
    const root = join(folder, "root");
    mkdirSync(root);
    writeFileSync(join(folder, "outside"), "outside");
    symlinkSync(join(folder, "outside"), join(root, "link"));
    symlinkSync("..", join(root, "up"));
    const workspace = await connect(["--root", root]);
    const link = join(root, "link");
    const bytes = new Uint8Array(1);
    const within = { allow: [join(root, "up")], deny: [] };
    for (const call of [
      () => workspace.read(link),
      () => workspace.read(link, { within }),
      () => workspace.write(link, bytes),
      () => workspace.read(join(folder, "outside")),
      () => workspace.list(join(root, "up")),
      () => workspace.write(join(root, "up/new"), bytes),
      () => workspace.createDirectory(join(root, "up/new")),
      () => workspace.rename(join(root, "up/outside"), join(root, "mine")),
      () => workspace.remove(join(root, "up/outside")),
      () => workspace.spawn({ command: "pwd", cwd: folder, onOutput: () => {} }),
    ]) {
      expect(await call().then(() => "opened", code), String(call)).toBe("not_allowed");
    }
    expect(readFileSync(join(folder, "outside"), "utf8")).toBe("outside");
    await workspace.write(join(root, "inside"), bytes);
    expect(existsSync(join(root, "inside"))).toBe(true);
    await workspace.dispose();
  });

  it("takes its commands with it when it is killed, and is reconnected", async () => {
    const workspace = await connect();
    const pids: number[] = [];
    const command =
      "sleep 300 & echo $!; setsid sleep 300 & echo $!; env -i setsid sleep 300 & echo $!; wait";
    const started = await workspace.spawn({
      command,
      onOutput: (bytes) =>
        void pids.push(...String(Buffer.from(bytes)).trim().split("\n").map(Number)),
    });
    await expect.poll(() => pids).toHaveLength(3);
    await run(workspace, "kill -9 $PPID").catch(() => {});
    await expect(started.done).rejects.toThrow("workspace lost: it ended with signal SIGKILL");
    await expect.poll(() => pids.filter(isRunning), { timeout: 5_000 }).toEqual([]);
    expect((await run(workspace, "echo again")).output).toBe("again\n");
    await workspace.dispose();
  });

  it("ends with its input and ends its commands", async () => {
    const workspace = await connect();
    let pid = 0;
    const started = await workspace.spawn({
      command: "trap '' TERM; echo $$; sleep 300; sleep 300",
      onOutput: (bytes) => {
        pid = Number(Buffer.from(bytes));
      },
    });
    await expect.poll(() => pid).toBeGreaterThan(0);
    const { output } = await run(workspace, "echo $PPID");
    await workspace.dispose();
    await expect(started.done).rejects.toMatchObject({ code: "lost" });
    await expect
      .poll(() => [pid, Number(output)].filter(isRunning), { timeout: 5_000 })
      .toEqual([]);
  });

  it("can be disposed of while it is stopped", async () => {
    const workspace = await connect();
    const { output } = await run(workspace, "echo $PPID");
    process.kill(Number(output), "SIGSTOP");
    const reading = workspace.stat(folder).catch(code);
    await workspace.dispose();
    expect(await reading).toBe("lost");
    await expect.poll(() => isRunning(Number(output)), { timeout: 5_000 }).toBe(false);
  });

  it("still handles requests while nobody reads a command's flood of output", async () => {
    const server = spawn(execPath, [file], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = new FrameLines();
    const ask = (frame: object) => server.stdin.write(`${JSON.stringify(frame)}\n`);
    ask({ id: 1, method: "spawn", params: { command: "echo $$ > flooding; yes", cwd: folder } });
    const pidFile = join(folder, "flooding");
    await expect.poll(() => readFileSync(pidFile, "utf8")).toMatch(/\n/);
    const pid = Number(readFileSync(pidFile, "utf8"));
    ask({ cancel: 1 });
    await expect.poll(() => isRunning(pid), { timeout: 5_000 }).toBe(false);
    const last = new Promise((resolve) => {
      server.stdout.on("data", (bytes: Buffer) => {
        for (const frame of lines.push(bytes)) if (frame?.event === "exit") resolve(frame);
      });
    });
    expect(await last).toMatchObject({ id: 1, exitCode: null, signal: "SIGTERM" });
    server.stdin.end();
    await new Promise((resolve) => server.once("exit", resolve));
  });

  it("shares a slow connection between parallel calls", async () => {
    const workspace = await connect([], { relay: { delayMs: 50 } });
    const path = join(folder, "slow");
    await workspace.write(path, Buffer.from("slow"));
    const started = performance.now();
    const all = await Promise.all(Array.from({ length: 8 }, () => workspace.read(path)));
    expect(performance.now() - started).toBeLessThan(400);
    expect(all.map((bytes) => Buffer.from(bytes).toString())).toEqual(Array(8).fill("slow"));
    await workspace.dispose();
  });

  it("loses only running commands when its carrier dies after or within any frame", async () => {
    for (const [dieAfter, half] of [
      [1, false],
      [2, true],
      [3, false],
      [4, true],
    ] as const) {
      const own = join(folder, `dies-${dieAfter}`);
      mkdirSync(own);
      const workspace = await connect([], { relay: { dieAfter, half }, reconnectMs: 5_000 });
      const told: string[] = [];
      for (let count = 0; count < 4; count += 1) {
        const path = join(own, String(count));
        const end = await workspace.write(path, Buffer.from("whole")).then(
          () => "written",
          (error: unknown) => (isWorkspaceError(error, "lost") ? "lost" : String(error)),
        );
        told.push(end);
        if (end === "written") expect(readFileSync(path, "utf8")).toBe("whole");
        else if (existsSync(path)) expect(readFileSync(path, "utf8")).toBe("whole");
      }
      expect(told.filter((end) => end !== "written" && end !== "lost")).toEqual([]);
      expect(told).toContain("lost");
      if (dieAfter > 2) expect(told).toContain("written");
      await workspace.dispose();
    }
  });
});
