import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, ownSeconds, processesWith, Workspace } from "./__fixtures__/workspace.ts";
import { type ProcessRequest, runProcess } from "./process.ts";
import { ProcessRegistry } from "./process-registry.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace[Symbol.dispose]());

function shell(command: string, overrides: Partial<ProcessRequest> = {}) {
  const output = { stdout: "", stderr: "" };
  const outcome = runProcess({
    file: "/bin/bash",
    args: ["-c", command],
    cwd: workspace.directory,
    variables: { PATH: "/usr/bin:/bin" },
    processes: workspace.processes,
    onOutput: (chunk, stream) => {
      output[stream] += chunk.toString();
      return undefined;
    },
    ...overrides,
  });
  return outcome.then((ended) => ({ ...output, ended }));
}

describe("a command that ends by itself", () => {
  it("returns its exit code and both streams", async () => {
    expect(await shell("echo out; echo err >&2; exit 7")).toEqual({
      stdout: "out\n",
      stderr: "err\n",
      ended: { kind: "exited", exitCode: 7 },
    });
  });

  it("reads an empty input and has no terminal", async () => {
    const { stdout } = await shell("cat; [ -t 0 ] || echo none");
    expect(stdout).toBe("none\n");
  });

  it("does not run .bashrc when its input is open", async () => {
    workspace.write({ ".bashrc": "echo from .bashrc\n" });
    const { stdout } = await shell("cat; echo done", {
      variables: { PATH: "/usr/bin:/bin", HOME: workspace.directory },
      hasInput: true,
      onStarted: (running) => running.endInput(),
    });
    expect(stdout).toBe("done\n");
  });

  it("has its own kind of outcome when a signal killed it", async () => {
    const { ended } = await shell("kill -SEGV $$");
    expect(ended).toEqual({ kind: "signalled", signal: "SIGSEGV" });
  });

  it("ends although a background process holds its output open", async () => {
    const started = performance.now();
    const { stdout, ended } = await shell(`sleep ${ownSeconds(31)} & echo done`);
    expect(ended).toEqual({ kind: "exited", exitCode: 0 });
    expect(stdout).toBe("done\n");
    expect(performance.now() - started).toBeLessThan(2000);
    expect(processesWith(ownSeconds(31))).toHaveLength(1);
    expect(workspace.processes.size).toBe(1);
    workspace.processes.killAll();
    expect(await eventually(() => processesWith(ownSeconds(31)).length === 0)).toBe(true);
  });

  it("keeps its exit code when only a background process would reach the timeout", async () => {
    const { ended } = await shell("sleep 630 & exit 3", { timeoutMs: 150 });
    expect(ended).toEqual({ kind: "exited", exitCode: 3 });
  });

  it("has its last output read while a background process keeps writing", async () => {
    const { stdout, ended } = await shell("(while :; do echo tick; sleep 0.02; done) & echo main");
    expect(stdout).toContain("main\n");
    expect(ended.kind).toBe("exited");
  });

  it("leaves a background server alive that writes after the shell has ended", async () => {
    await shell("(sleep 0.4; echo late; touch survived; sleep 0.1; echo later) &");
    const isThere = () => {
      try {
        return readFileSync(workspace.path("survived")).length === 0;
      } catch {
        return false;
      }
    };
    expect(await eventually(isThere)).toBe(true);
  });
});

describe("a command that is killed", () => {
  it("ends at its timeout with the whole group, even if it ignores SIGTERM", async () => {
    const { ended } = await shell(
      `trap '' TERM; sleep ${ownSeconds(32)} & sleep ${ownSeconds(32)}; echo after`,
      {
        timeoutMs: 150,
      },
    );
    expect(ended).toEqual({ kind: "timed_out" });
    expect(await eventually(() => processesWith(ownSeconds(32)).length === 0)).toBe(true);
  });

  it("ends on abort without running its next part", async () => {
    const controller = new AbortController();
    const running = shell(`sleep ${ownSeconds(33)}; touch next`, { signal: controller.signal });
    expect(await eventually(() => processesWith(ownSeconds(33)).length > 0)).toBe(true);
    controller.abort();
    expect((await running).ended).toEqual({ kind: "aborted" });
    expect(await eventually(() => processesWith(ownSeconds(33)).length === 0)).toBe(true);
    expect(() => readFileSync(workspace.path("next"))).toThrow();
  });

  it("is not started if the signal is already aborted", async () => {
    const { ended } = await shell("touch started", { signal: AbortSignal.abort() });
    expect(ended).toEqual({ kind: "aborted" });
    expect(() => readFileSync(workspace.path("started"))).toThrow();
  });
});

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}

describe("a process that leaves the process group of its command", () => {
  const [a, b] = [ownSeconds(41), ownSeconds(42)];
  // A process that has yet to become the sleeper counts, too.
  const sleepers = (seconds: string) =>
    processesWith(`sleep\0${seconds}`).filter((pid) => commandOf(pid) === "sleep");
  const isRunning = (seconds: string) => eventually(() => sleepers(seconds).length > 0);
  const isGone = (seconds: string) => eventually(() => sleepers(seconds).length === 0);

  it.each([
    ["with its environment", `(setsid sleep ${a} >/dev/null 2>&1 &); sleep ${a}`],
    ["as a child of one that did", `setsid sh -c 'env -i sleep ${a}; :' & sleep ${a}`],
    ["with an environment of its own", `setsid env -i sleep ${a} & sleep ${a}`],
    ["with neither", `(env -i setsid sleep ${a} >/dev/null 2>&1 &); sleep ${a}`],
  ])("is killed when its command is aborted: %s", async (_, command) => {
    const controller = new AbortController();
    const running = shell(command, { signal: controller.signal });
    expect(await eventually(() => sleepers(a).length === 2)).toBe(true);
    controller.abort();
    expect((await running).ended).toEqual({ kind: "aborted" });
    expect(await isGone(a)).toBe(true);
  });

  it("is killed when its command times out, unlike those of other commands", async () => {
    await shell(`setsid sleep ${a} >/dev/null 2>&1 &`);
    expect(await isRunning(a)).toBe(true);
    const { ended } = await shell(`setsid sleep ${b} & sleep 630`, { timeoutMs: 300 });
    expect(ended).toEqual({ kind: "timed_out" });
    expect(await isGone(b)).toBe(true);
    expect(sleepers(a)).toHaveLength(1);
  });

  it("is killed with its registry, unlike those of other registries", async () => {
    using other = new ProcessRegistry();
    await shell(`setsid sleep ${a} >/dev/null 2>&1 &`, { processes: other });
    await shell(`setsid setsid -f sleep ${b} >/dev/null 2>&1 &`);
    expect(await isRunning(a)).toBe(true);
    expect(await isRunning(b)).toBe(true);
    workspace.processes.killAll();
    expect(await isGone(b)).toBe(true);
    expect(sleepers(a)).toHaveLength(1);
  });

  it("is killed with its registry even without parent and environment, unlike those of other registries", async () => {
    using other = new ProcessRegistry();
    await shell(`env -i setsid sleep ${a} >/dev/null 2>&1 &`, { processes: other });
    await shell(`env -i setsid sleep ${b} >/dev/null 2>&1 &`);
    await shell(`env -i setsid sh -c 'sleep ${b}; :' >/dev/null 2>&1 &`, { file: "/bin/sh" });
    expect(await isRunning(a)).toBe(true);
    expect(await eventually(() => sleepers(b).length === 2)).toBe(true);
    workspace.processes.killAll();
    expect(await isGone(b)).toBe(true);
    expect(sleepers(a)).toHaveLength(1);
  });

  it("changes neither environment nor line numbers nor arguments of a command", async () => {
    const variables = { PATH: "/usr/bin:/bin", "a.b": "kept" };
    const { stdout } = await shell('echo "$? $0 $# $LINENO"\necho $LINENO; env', { variables });
    const lines = stdout.trim().split("\n");
    expect(lines.slice(0, 2)).toEqual(["0 /bin/bash 0 1", "2"]);
    expect(lines).toContain("a.b=kept");
  });

  it("carries the mark of every host above it", async () => {
    const { stdout } = await shell('printf %s "$TAU_PROCESS_OWNERS"', {
      variables: { PATH: "/usr/bin:/bin", TAU_PROCESS_OWNERS: "outer.1/" },
    });
    expect(stdout).toMatch(/^outer\.1\/[0-9a-f]{16}\.1\/$/);
  });

  it("is left alone, with its children, if its mark is empty", async () => {
    const controller = new AbortController();
    const command = `TAU_PROCESS_OWNERS= setsid sh -c 'sleep ${a}; :' & sleep ${b}`;
    const running = shell(command, { signal: controller.signal });
    expect(await isRunning(a)).toBe(true);
    expect(await isRunning(b)).toBe(true);
    controller.abort();
    await running;
    workspace.processes.killAll();
    expect(await isGone(b)).toBe(true);
    const survivors = sleepers(a);
    for (const pid of survivors) process.kill(pid, "SIGKILL");
    expect(survivors).toHaveLength(1);
  });
});

describe("a command that cannot start", () => {
  it.each([
    ["cwd_missing", { cwd: "/no/such/directory" }],
    ["not_found", { file: "/no/such/shell" }],
    ["not_executable", { file: "/etc/passwd" }],
    ["command_too_long", { args: ["-c", `: ${"x".repeat(3_000_000)}`] }],
    ["spawn_failed", { args: ["-c", "echo \0"] }],
  ])("fails with %s", async (code, overrides) => {
    await expect(shell("true", overrides)).rejects.toMatchObject({ name: "ProcessError", code });
  });
});

describe("ProcessRegistry", () => {
  it("kills processes that a dead host left, and none of living hosts", async () => {
    const seconds = ownSeconds(43);
    const [first, second] = [1, 2].map(() => workspace.processes.prepareHost(process.env));
    if (first === undefined || second === undefined) throw new Error("no plans");
    const children = [first, second].map(({ variables }) =>
      spawn("setsid", ["sleep", seconds], { env: { ...process.env, ...variables } }),
    );
    const running = () => processesWith(`sleep\0${seconds}`).map(commandOf);
    expect(await eventually(() => running().join() === "sleep,sleep")).toBe(true);
    workspace.processes.hostEnded(first);
    expect(await eventually(() => running().length === 1)).toBe(true);
    expect(children[1]?.exitCode).toBeNull();
    workspace.processes.killAll();
    expect(await eventually(() => running().length === 0)).toBe(true);
  });

  it("forgets a group once it is empty", async () => {
    await shell("true");
    expect(workspace.processes.size).toBe(0);
  });

  it("lets no child outlive a host that is killed with SIGKILL", async () => {
    const program = `
      import { ProcessRegistry } from ${JSON.stringify(import.meta.resolve("./process-registry.ts"))};
      import { runProcess } from ${JSON.stringify(import.meta.resolve("./process.ts"))};
      const processes = new ProcessRegistry();
      const run = (command) => runProcess({ file: "/bin/sh", args: ["-c", command], cwd: "/",
        variables: { PATH: "/usr/bin:/bin" }, processes, onOutput: () => undefined });
      await run("sleep ${ownSeconds(34)} & :");
      await run("setsid sleep ${ownSeconds(34)} >/dev/null 2>&1 & :");
      await run("true");
      void run("sleep ${ownSeconds(34)}; sleep ${ownSeconds(34)}");
      setTimeout(() => console.log("ready"), 50);
    `;
    const host = spawn(
      process.execPath,
      ["-C", "@tau-agent/source", "--input-type=module", "-e", program],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    await new Promise((resolve) => host.stdout.once("data", resolve));
    const areRunning = () => processesWith(`sleep\0${ownSeconds(34)}`).length === 3;
    expect(await eventually(areRunning)).toBe(true);
    host.kill("SIGKILL");
    expect(await eventually(() => processesWith(ownSeconds(34)).length === 0)).toBe(true);
  });
});
