import { tmpdir } from "node:os";
import { WorkspaceError, type WorkspaceSpawnOptions } from "@tau-agent/rpc-protocol/workspace";
import { ProcessRegistry } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import { MemoryWorkspace } from "../../../../system/src/workspaces/__fixtures__/memory-workspace.ts";
import { execCommand } from "./exec.ts";

const environment = {
  cwd: tmpdir(),
  environment: { PATH: process.env.PATH, NAME: "host" },
  processes: new ProcessRegistry({}),
};
const sh = (script: string) => ({ file: "sh", args: ["-c", script] });

describe("exec", () => {
  it("returns both streams and the exit code", async () => {
    const result = await execCommand(environment, sh("echo out; echo err >&2; exit 3"));
    expect(result).toEqual({
      stdout: "out\n",
      stderr: "err\n",
      code: 3,
      killed: false,
      truncated: false,
    });
  });

  it("kills a command that ignores polite signals after its timeout", async () => {
    const started = performance.now();
    const result = await execCommand(environment, sh("trap '' TERM; sleep 630 & wait; sleep 630"), {
      timeout: 100,
    });
    expect(result).toMatchObject({ killed: true, code: 1 });
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it.each([0, 2 ** 31, Number.POSITIVE_INFINITY])(
    "sets no time limit with a timeout of %s",
    async (timeout) => {
      const result = await execCommand(environment, sh("sleep 0.2; echo done"), { timeout });
      expect(result).toMatchObject({ killed: false, stdout: "done\n" });
    },
  );

  it("kills a command when its signal aborts", async () => {
    const controller = new AbortController();
    const running = execCommand(environment, sh("sleep 630"), { signal: controller.signal });
    controller.abort();
    expect(await running).toMatchObject({ killed: true });
  });

  it("keeps the requested amount of output and reports that there was more", async () => {
    const result = await execCommand(environment, sh("printf '%s' äääää"), { maxBuffer: 5 });
    expect(result).toMatchObject({ stdout: "ää", truncated: true });
  });

  it("reports why a program could not be started, even without an earlier await", async () => {
    const result = await new Promise<Awaited<ReturnType<typeof execCommand>>>((resolve) => {
      setImmediate(
        () => void execCommand(environment, { file: "no-such", args: [] }).then(resolve),
      );
    });
    expect(result).toMatchObject({ code: 1, killed: false });
    expect(result.stderr).toContain("no-such");
  });

  it("runs in another folder with additional variables on request", async () => {
    const options = { cwd: "/", env: { EXTRA: "more" } };
    const { stdout } = await execCommand(environment, sh("echo $PWD $NAME $EXTRA"), options);
    expect(stdout).toBe("/ host more\n");
  });
});

describe("exec in a remote workspace", () => {
  /** Runs a program in a workspace, and also returns how it was started. */
  async function there(
    run: (options: WorkspaceSpawnOptions) => Promise<{ exitCode: number | null; signal?: string }>,
    options: Parameters<typeof execCommand>[2] = {},
    isWindows = false,
  ) {
    const started: WorkspaceSpawnOptions[] = [];
    const workspace = new MemoryWorkspace("/there", (spawned) => {
      started.push(spawned);
      return run(spawned);
    });
    const cwd = isWindows ? "C:\\there" : "/there";
    const place = { ...environment, cwd, elsewhere: { workspace, isWindows } };
    const result = await execCommand(place, { file: "git", args: ["log", "a b; c"] }, options);
    return { result, started };
  }

  it("starts the program in the workspace, without variables of this machine", async () => {
    const run = async ({ onOutput }: WorkspaceSpawnOptions) => {
      await onOutput(Buffer.from("out"), "stdout");
      await onOutput(Buffer.from("err"), "stderr");
      return { exitCode: 3 };
    };
    const options = { cwd: "sub/..", env: { EXTRA: "more", NAME: undefined }, timeout: 50 };
    const { result, started } = await there(run, options);
    expect(result).toEqual({
      ...{ stdout: "out", stderr: "err", code: 3 },
      ...{ killed: false, truncated: false },
    });
    expect(started).toMatchObject([
      { command: ["git", "log", "a b; c"], cwd: "/there", timeoutMs: 50 },
    ]);
    expect(started[0]?.environment).toEqual({ EXTRA: "more", NAME: null });
  });

  it("resolves folders by the path rules of the remote platform", async () => {
    const { started } = await there(async () => ({ exitCode: 0 }), { cwd: "..\\sub" }, true);
    expect(started).toMatchObject([{ cwd: "C:\\sub" }]);
  });

  it.each([
    ["was aborted", async () => Promise.reject(new WorkspaceError("aborted")), { killed: true }],
    ["took too long", async () => ({ exitCode: null, timedOut: true }), { killed: true }],
    ["got a signal", async () => ({ exitCode: null, signal: "SIGHUP" }), { killed: false }],
    [
      "lost its place",
      async () => Promise.reject(new WorkspaceError("lost")),
      { killed: false, stderr: expect.stringContaining("lost") },
    ],
  ])("reports a program that %s", async (_, run, expected) => {
    expect((await there(run)).result).toMatchObject({ code: 1, ...expected });
  });
});
