import { existsSync, readFileSync, rmSync } from "node:fs";
import { ToolError } from "@tau-agent/agent";
import type { Sandbox, ToolEnvironment } from "@tau-agent/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  eventually,
  ownSeconds,
  processesWith,
  textOf,
  toolCall,
  Workspace,
} from "../../../../system/src/processes/__fixtures__/workspace.ts";
import { createTool } from "../common/tool-row.ts";
import { runBashTool } from "./bash.ts";
import { bashTool } from "./definition.ts";
import { runBash } from "./run-bash.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace[Symbol.dispose]());

const bash = (
  command: string,
  overrides: Partial<ToolEnvironment> = {},
  timeout?: number,
  call = toolCall(),
) => runBashTool({ command, timeout }, workspace.environment(overrides), call);

async function failure(running: Promise<unknown>): Promise<ToolError> {
  const error = await running.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ToolError);
  return error as ToolError;
}

describe("the bash tool", () => {
  it("returns both streams and works in the session's directory", async () => {
    const result = await bash("echo out; sleep 0.05; echo err >&2; sleep 0.05; pwd");
    expect(result).toEqual({
      content: [{ type: "text", text: `out\nerr\n${workspace.directory}\n` }],
    });
  });

  it("reports when there is no output", async () => {
    expect(textOf(await bash("true"))).toBe("(no output)");
  });

  it("fails with the output and the exit code", async () => {
    expect((await failure(bash("echo broken; exit 3"))).message).toBe(
      "broken\n\nCommand exited with code 3",
    );
    expect((await failure(bash("exit 1"))).message).toBe("Command exited with code 1");
    const killed = await failure(bash("echo some; kill -9 $$"));
    expect(killed.message).toBe("some\n\nCommand was killed by signal SIGKILL");
  });

  it("returns the end of long output and keeps all of it in a file", async () => {
    const result = await bash("seq 1 5000");
    const { fullOutputPath, truncation } = result.details as {
      fullOutputPath: string;
      truncation: object;
    };
    const text = textOf(result);
    expect(text.startsWith("3001\n3002\n")).toBe(true);
    expect(
      text.endsWith(`\n5000\n\n[Showing lines 3001-5000 of 5000. Full output: ${fullOutputPath}]`),
    ).toBe(true);
    expect(truncation).toMatchObject({ truncatedBy: "lines", totalLines: 5000 });
    expect(readFileSync(fullOutputPath, "utf8").split("\n")).toHaveLength(5001);
  });

  it("names the byte limit if it was reached", async () => {
    const text = textOf(await bash(`for i in {1..600}; do printf '%0100d\\n' $i; done`));
    expect(text).toMatch(/\[Showing lines \d+-600 of 600 \(50\.0KB limit\)\. Full output: /);
    const long = textOf(await bash(`printf '%0100000d' 7`));
    expect(long).toContain("[Showing last 50.0KB of line 1 (line is 97.7KB). Full output: ");
  });

  it("folds repeated lines and progress output, and keeps all of it in a file if there is one", async () => {
    const few = await bash(
      `echo begin; yes 'the same warning' | head -1500; printf '1 %%\\r2 %%\\n'`,
    );
    expect(textOf(few)).toBe("begin\nthe same warning\n[last line repeated 1 499 times]\n2 %\n");
    const many = await bash(`echo begin; yes 'the same warning' | head -5000; echo end`);
    const { fullOutputPath } = many.details as { fullOutputPath: string };
    expect(textOf(many)).toBe(
      `begin\nthe same warning\n[last line repeated 4 999 times]\nend\n\n[Full output: ${fullOutputPath}]`,
    );
    expect(readFileSync(fullOutputPath, "utf8").split("\n")).toHaveLength(5003);
  });

  it("keeps details of a failed command", async () => {
    const error = await failure(bash("seq 1 3000; exit 2"));
    expect(error.message).toMatch(/Full output: .*\]\n\nCommand exited with code 2$/);
    expect(error.details).toMatchObject({ truncation: { totalLines: 3000 } });
  });

  it("stops at its timeout and returns the output so far", async () => {
    const error = await failure(bash(`echo early; sleep ${ownSeconds(35)}; echo late`, {}, 0.3));
    expect(error.message).toBe("early\n\nCommand timed out after 0.3 seconds");
    expect(await eventually(() => processesWith(ownSeconds(35)).length === 0)).toBe(true);
  });

  it("stops at the default timeout if a call has none", async () => {
    const limited = { bashTimeoutMs: 300 };
    const error = await failure(bash("echo first; sleep 660", limited));
    expect(error.message).toBe(
      "first\n\nCommand timed out after 0.3 seconds. Give timeout to allow more.",
    );
    expect(textOf(await bash("sleep 0.5; echo done", limited, 5))).toBe("done\n");
    expect(textOf(await bash("sleep 0.5; echo done", { bashTimeoutMs: 0 }))).toBe("done\n");
  });

  it("has no default timeout for commands of clients", async () => {
    const environment = workspace.environment({ bashTimeoutMs: 100 });
    const result = await runBash("sleep 0.4; echo done", { environment });
    expect(result).toMatchObject({ output: "done\n", exitCode: 0, cancelled: false });
  });

  it("tells the model that directory changes do not persist, and what happens to processes", () => {
    const { description } = createTool(bashTool, workspace.environment());
    expect(description).toContain("in a new shell");
    expect(description).toContain("Processes left by & end with the agent");
  });

  it("tells the model that background processes in the sandbox end with their call", () => {
    const describe = (failureNotice: string | undefined) => {
      const sandbox = { failureNotice } as Sandbox;
      return createTool(bashTool, workspace.environment({ sandbox })).description;
    };
    expect(describe("[It ran in a sandbox.]")).toMatch(/sandboxed: processes .* end with the call/);
    // A sandbox is wanted but unavailable: commands run without it, or not at all.
    expect(describe(undefined)).toContain("end with the agent");
  });

  describe.each([
    ["&", (command: string) => `${command} &`],
    ["nohup", (command: string) => `nohup ${command} > /dev/null 2>&1 &`],
    ["setsid", (command: string) => `setsid ${command} < /dev/null > /dev/null 2>&1 &`],
  ])("a background process, as the tool's description says (%s),", (_, start) => {
    const seconds = ownSeconds(41);
    const isRunning = () => processesWith(`sleep\0${seconds}`).length > 0;

    it("outlives its call, and ends with the agent", async () => {
      expect(textOf(await bash(`${start(`sleep ${seconds}`)} echo started`))).toBe("started\n");
      expect(await eventually(isRunning)).toBe(true);
      workspace.processes.killAll();
      expect(await eventually(() => !isRunning())).toBe(true);
    });

    it("ends with a call that times out or is aborted", async () => {
      const line = `${start(`sleep ${seconds}`)} sleep 0.1; echo up; sleep ${ownSeconds(42)}`;
      expect((await failure(bash(line, {}, 0.5))).message).toContain("up\n\nCommand timed out");
      expect(await eventually(() => !isRunning())).toBe(true);
      const controller = new AbortController();
      const running = failure(bash(line, {}, undefined, toolCall(controller.signal)));
      expect(await eventually(isRunning)).toBe(true);
      controller.abort();
      expect((await running).message).toContain("Command aborted");
      expect(await eventually(() => !isRunning())).toBe(true);
    });
  });

  it("loses output written after its call, unless it goes to a file", async () => {
    const says = "(sleep 0.5; echo lost; echo kept > kept; sleep 0.2; echo alive > alive)";
    expect(textOf(await bash(`${says} & echo started`))).toBe("started\n");
    expect(await eventually(() => existsSync(workspace.path("alive")))).toBe(true);
    expect(workspace.read("kept")).toBe("kept\n");
  });

  it.each([
    [["bash", "-lc", "cat a | wc"], "cat a | wc"],
    [["git", "log", "--format=%h %s"], "git log '--format=%h %s'"],
    [["echo", "it's"], "echo 'it'\\''s'"],
  ])("accepts the list of words %j as the command %s", (command, line) => {
    expect(bashTool.prepareArguments?.({ command })).toEqual({ command: line });
  });

  it.each([0, -1, Number.NaN, 3_000_000])("refuses a timeout of %s", async (timeout) => {
    const error = await failure(bash("echo ran > ran", {}, timeout));
    expect(error.message).toContain("Invalid timeout");
    expect(() => workspace.read("ran")).toThrow();
  });

  it("kills the whole process group on abort", async () => {
    const controller = new AbortController();
    const running = failure(
      bash(
        `echo on; sleep ${ownSeconds(36)} | sleep ${ownSeconds(36)}; echo off`,
        {},
        undefined,
        toolCall(controller.signal),
      ),
    );
    expect(await eventually(() => processesWith(ownSeconds(36)).length >= 2)).toBe(true);
    controller.abort();
    expect((await running).message).toBe("on\n\nCommand aborted");
    expect(await eventually(() => processesWith(ownSeconds(36)).length === 0)).toBe(true);
  });

  it("reports progress at once and then at intervals, but never after the end", async () => {
    const call = toolCall();
    await bash("echo one; sleep 1; for i in {1..200}; do echo $i; done", {}, undefined, call);
    const count = call.updates.length;
    expect(textOf(call.updates[0]!)).toBe("one\n");
    expect(count).toBeGreaterThanOrEqual(2);
    expect(count).toBeLessThan(8);
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(call.updates).toHaveLength(count);
  });

  it("hides the host's repository variables and, by default, its keys from commands", async () => {
    const environment = {
      PATH: process.env.PATH,
      OPENAI_API_KEY: "sk-1",
      GIT_DIR: "/host/.git",
      PI_MODEL: "stale",
      OTHER: "kept",
    };
    const overrides = { environment, keyVariables: ["OPENAI_API_KEY"] };
    const show = `echo "$OPENAI_API_KEY|$GIT_DIR|$PI_MODEL|$OTHER|$PAGER|$PI_SESSION_ID"`;
    expect(textOf(await bash(show, overrides))).toBe("|||kept|cat|\n");
    const sessionVariables = () => ({ PI_SESSION_ID: "s1" });
    const keyed = { ...overrides, inheritKeys: true, sessionVariables };
    expect(textOf(await bash(show, keyed))).toBe("sk-1|||kept|cat|s1\n");
  });

  it("uses the configured shell and prefix", async () => {
    const text = await bash(`echo "$greeting $0"`, {
      shellPath: "/bin/sh",
      shellCommandPrefix: "greeting=hello",
    });
    expect(textOf(text)).toBe("hello /bin/sh\n");
  });

  it("reports a missing shell or directory", async () => {
    const noShell = await failure(bash("true", { shellPath: "/no/shell" }));
    expect(noShell.message).toBe("Program not found: /no/shell. Install it or set shellPath.");
    rmSync(workspace.directory, { recursive: true });
    const noDirectory = await failure(bash("true"));
    expect(noDirectory.message).toContain(
      `working directory does not exist: ${workspace.directory}`,
    );
  });

  it("processes 150 MB of output in bounded memory", async () => {
    // Chunks that are not yet garbage-collected count, too: tens of MB, whatever the size.
    const before = process.memoryUsage().arrayBuffers;
    let peak = before;
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().arrayBuffers);
    }, 5);
    const result = await bash("yes 0123456789abcdef0123456789abcdef | head -c 150000000");
    clearInterval(timer);
    expect(result.details).toMatchObject({ truncation: { totalBytes: 150_000_000 } });
    expect(peak - before).toBeLessThan(75_000_000);
  });
});

describe("runBash", () => {
  const run = (
    command: string,
    options: { signal?: AbortSignal; onDelta?: (text: string) => void } = {},
  ) => runBash(command, { environment: workspace.environment(), ...options });

  it("returns clean output, even if an escape sequence is split, and every exit code", async () => {
    const deltas: string[] = [];
    const onDelta = (text: string) => deltas.push(text);
    const result = await run(
      `printf '\\033[3'; sleep 0.1; printf '1mred\\033[0m\\r\\n\\303'; sleep 0.1; printf '\\251\\a'; exit 4`,
      { onDelta },
    );
    expect(result).toEqual({ output: "red\né", exitCode: 4, cancelled: false, truncated: false });
    expect(deltas.join("")).toBe("red\né");
    expect((await run("kill -TERM $$")).exitCode).toBe(143);
  });

  it("runs several commands at once and cancels one of them", async () => {
    const controller = new AbortController();
    const cancelled = run(`echo begun; sleep ${ownSeconds(37)}`, { signal: controller.signal });
    const other = run("sleep 0.2; echo fine");
    expect(await eventually(() => processesWith(`sleep\0${ownSeconds(37)}`).length > 0)).toBe(true);
    controller.abort();
    expect(await cancelled).toEqual({
      output: "begun\n",
      exitCode: undefined,
      cancelled: true,
      truncated: false,
    });
    expect(await other).toMatchObject({ output: "fine\n", exitCode: 0 });
  });

  it("keeps long output in a file", async () => {
    const result = await run("seq 1 2500");
    expect(result).toMatchObject({ truncated: true, exitCode: 0 });
    expect(result.output.startsWith("501\n")).toBe(true);
    expect(readFileSync(result.fullOutputPath ?? "", "utf8")).toHaveLength(11_393);
  });

  it("does not pass session variables", async () => {
    const environment = workspace.environment({ sessionVariables: () => ({ PI_SESSION_ID: "x" }) });
    const { output } = await runBash(`echo "[$PI_SESSION_ID]"`, { environment });
    expect(output).toBe("[]\n");
  });
});
