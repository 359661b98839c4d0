import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startHost } from "../support/start-host.ts";

const program = fileURLToPath(new URL("../../bin/tau.js", import.meta.url));
const server = fileURLToPath(
  new URL("../../../../packages/mcp/src/__fixtures__/stdio-server.ts", import.meta.url),
);
const behaviour = JSON.stringify({ tools: [{ name: "echo", inputSchema: { type: "object" } }] });

let folder: string;
let cwd: string;
let agentDirectory: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tau-mcp-cli-"));
  [cwd, agentDirectory] = [join(folder, "project"), join(folder, "agent")];
  await mkdir(cwd);
  await mkdir(agentDirectory);
});
afterEach(() => rm(folder, { recursive: true }));

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function tau(...words: string[]): Promise<Outcome> {
  const env = { ...process.env, PI_CODING_AGENT_DIR: agentDirectory };
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...words], { cwd, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const add = (...words: string[]) => tau("mcp", "add", ...words, "--", "node", server, behaviour);

/** A server that does not answer, like one that npx is still downloading. */
const silent = { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"] };

it("a slow server does not delay the first answer, and a prompt that waits for it names it", async () => {
  const files = { "agent/mcp.json": JSON.stringify({ mcpServers: { slow: silent } }) };
  const host = startHost({ files, scenario: ["done"] });
  const begun = performance.now();
  host.send({ id: "1", type: "get_state" });
  await host.until({ "...": true, id: "1", success: true });
  host.send({ id: "2", type: "prompt", message: "go" });
  await host.until({ "...": true, id: "2", success: true });
  expect(performance.now() - begun).toBeLessThan(5000);
  await expect.poll(() => host.stderr).toContain("MCP servers that connect");
  expect(host.stderr).toContain(": slow. After that the prompt goes on");
  host.send({ id: "3", type: "abort" });
  await host.until({ "...": true, id: "3" });
});

it("tau mcp list shows that the server connects", async () => {
  const slow = `setTimeout(() => process.exit(1), 2000)`;
  await tau("mcp", "add", "slow", "--", process.execPath, "-e", slow);
  expect((await tau("mcp", "list")).stderr).toBe("tau: Connecting to MCP servers …\n");
});

describe("a host", () => {
  it("ends its servers with itself, even when it is killed", async () => {
    const log = join(folder, "log");
    const args = [server, JSON.stringify({ tools: [], log })];
    const mcpServers = { one: { command: process.execPath, args } };
    await writeFile(join(agentDirectory, "mcp.json"), JSON.stringify({ mcpServers }));
    const words = [program, "--mode", "rpc", "--no-session"];
    const env = { ...process.env, PI_CODING_AGENT_DIR: agentDirectory };
    const host = spawn(process.execPath, words, { cwd, env, stdio: ["pipe", "ignore", "ignore"] });
    host.stdin.write('{"type":"get_state"}\n');
    await expect.poll(() => existsSync(log) && readFileSync(log, "utf8")).toMatch(/tools\/list/);
    const pid = Number(/start (\d+)/.exec(readFileSync(log, "utf8"))?.[1]);
    host.kill("SIGKILL");
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it("starts no server before the first command is answered", async () => {
    const log = join(folder, "log");
    const mcpServers = {
      one: { command: process.execPath, args: [server, JSON.stringify({ log })] },
    };
    await writeFile(join(agentDirectory, "mcp.json"), JSON.stringify({ mcpServers }));
    const words = [program, "--mode", "rpc", "--no-session"];
    const env = { ...process.env, PI_CODING_AGENT_DIR: agentDirectory };
    const host = spawn(process.execPath, words, { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(existsSync(log)).toBe(false);
    host.stdin.write('{"type":"get_mcp_servers"}\n');
    await expect.poll(() => existsSync(log)).toBe(true);
    host.stdin.end();
    await new Promise((resolve) => host.once("exit", resolve));
  });
});

describe("the sessions of a host", () => {
  it("share a stateless server, which ends with the last of them", async () => {
    const log = join(folder, "log");
    const args = [server, JSON.stringify({ tools: [], log })];
    const mcpServers = { one: { command: process.execPath, args, stateless: true } };
    await writeFile(join(agentDirectory, "mcp.json"), JSON.stringify({ mcpServers }));
    const words = [program, "--mode", "rpc", "--sessions"];
    const env = { ...process.env, PI_CODING_AGENT_DIR: agentDirectory };
    const host = spawn(process.execPath, words, { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
    const answers = createInterface({ input: host.stdout })[Symbol.asyncIterator]();
    const ask = async (command: object) => {
      host.stdin.write(`${JSON.stringify({ id: "1", ...command })}\n`);
      for (;;) {
        const frame = JSON.parse(String((await answers.next()).value));
        if (frame.type === "response") return frame.data;
      }
    };
    const open = async () => (await ask({ type: "open_session" })).sessionId;
    const sessions = [await open(), await open()];
    for (const sessionId of sessions) {
      const connected = { servers: [expect.objectContaining({ status: "connected" })] };
      await expect.poll(() => ask({ type: "get_mcp_servers", sessionId })).toMatchObject(connected);
    }
    const started = [...readFileSync(log, "utf8").matchAll(/start (\d+)/g)];
    expect(started).toHaveLength(1);
    const pid = Number(started[0]?.[1]);
    await ask({ type: "close_session", sessionId: sessions[0] });
    expect(isAlive(pid)).toBe(true);
    await ask({ type: "close_session", sessionId: sessions[1] });
    expect(isAlive(pid)).toBe(false);
    host.stdin.end();
    await new Promise((resolve) => host.once("exit", resolve));
  });
});

// ../mcp-command.test.ts covers failures, without a process for each command.
describe("tau mcp", () => {
  it("adds, tests, lists and removes a server, and keeps comments", async () => {
    const file = join(agentDirectory, "mcp.json");
    await writeFile(file, '{\n  // mine\n  "mcpServers": {}\n}\n');
    expect(await add("one", "--env", "A=b=c", "--cwd", cwd)).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(file, "utf8")).toContain("// mine");
    expect(readFileSync(file, "utf8")).toContain('"A": "b=c"');
    const tested = await tau("mcp", "test", "one");
    // On a busy machine, connecting takes long enough to be announced.
    const quiet = expect.stringMatching(/^(?:tau: Connecting to MCP servers …\n)?$/);
    expect(tested).toMatchObject({ code: 0, stderr: quiet });
    expect(tested.stdout).toBe("one: connected (stdio, user, 1 tools)\n  mcp__one__echo ← echo\n");
    const listed = await tau("mcp", "list", "--json");
    expect(JSON.parse(listed.stdout)).toMatchObject({
      servers: [{ name: "one", status: "connected" }],
      errors: [],
    });
    expect(await tau("mcp", "remove", "one")).toMatchObject({ code: 0 });
    expect((await tau("mcp", "list")).stdout).toBe(
      "No MCP servers are configured. Add one: tau mcp add <name> -- <program>, or --url <address>\n",
    );
  });

  it("shows its usage", async () => {
    expect(await tau("mcp", "--help")).toMatchObject({ code: 0, stderr: "" });
    expect((await tau("mcp")).stdout).toContain("tau mcp add [-l] <name>");
  });
});
