import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished, vi } from "vitest";
import type { AgentProcessOptions } from "./agent-process.ts";

const cliPath = fileURLToPath(new URL("../../../apps/cli/bin/tau.js", import.meta.url));
const program = fileURLToPath(new URL("agent-process.ts", import.meta.url));
const patience = { timeout: 90_000, interval: 50 };

interface Line {
  readonly type?: string;
  readonly text?: string;
  readonly toolName?: string;
  readonly approvalId?: string;
  readonly error?: unknown;
  readonly sessionId?: string;
  readonly state?: unknown;
  readonly ended?: boolean;
}

/** A script for the model, and processes with an agent that uses it. */
function place(script: readonly object[], settings: object = {}) {
  const folder = mkdtempSync(join(tmpdir(), "tau-harness-process-"));
  const model = join(folder, "script.json");
  const pids = join(folder, "pids");
  // Each host writes down its process id.
  const host = join(folder, "host.mjs");
  const note = `import { appendFileSync } from "node:fs"; appendFileSync(${JSON.stringify(pids)}, process.pid + "\\n");`;
  writeFileSync(host, `${note}\nawait import(${JSON.stringify(cliPath)});\n`);
  writeFileSync(pids, "");
  // A new host starts with the first reply.
  const follow = (replies: readonly object[]) => writeFileSync(model, JSON.stringify(replies));
  follow(script);
  mkdirSync(join(folder, "agent"));
  writeFileSync(join(folder, "agent", "settings.json"), JSON.stringify(settings));
  const hosts = () => readFileSync(pids, "utf8").split("\n").filter(Boolean).map(Number);
  const killHost = (): void => {
    const pid = hosts().at(-1);
    if (pid !== undefined) kill(pid);
  };
  onTestFinished(() => {
    for (const pid of hosts()) kill(pid);
    rmSync(folder, { recursive: true, force: true });
  });
  const env = { HOME: folder, PI_CODING_AGENT_DIR: join(folder, "agent") };
  const harness = { cliPath: host, provider: "scripted", model, cwd: folder, env };
  const run = (options: Partial<AgentProcessOptions>) => agentProcess({ harness, ...options });
  const stored = () =>
    readdirSync(join(folder, "agent"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".jsonl"))
      .map((file) => readFileSync(join(folder, "agent", file), "utf8"))
      .join("");
  return { harness, run, follow, hosts, killHost, stored };
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended.
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function agentProcess(options: AgentProcessOptions) {
  const words = ["--conditions=@tau-agent/source", program, JSON.stringify(options)];
  const child: ChildProcess = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: Line[] = [];
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on("line", (line) => lines.push(JSON.parse(line)));
  }
  const line = async (is: (line: Line) => boolean): Promise<Line> => {
    let hasEnded = false;
    void ended.then(() => {
      hasEnded = true;
    });
    return await vi.waitUntil(() => {
      const found = lines.find(is);
      if (found === undefined && hasEnded) throw new Error(`${JSON.stringify(lines)}\n${stderr}`);
      return found;
    }, patience);
  };
  return {
    child,
    lines,
    ended,
    line,
    suspended: () =>
      line(({ state }) => state !== undefined) as Promise<{
        sessionId: string;
        state: unknown;
      }>,
    end: async () => {
      await line(({ ended: isOver }) => isOver === true);
      return lines.filter(({ type }) => type === "error");
    },
    text: () => lines.map(({ type, text = "" }) => (type === "text-delta" ? text : "")).join(""),
  };
}

const count = Array.from({ length: 40 }, (_, at) => `word ${at}.`).join(" ");
/** Streams for four seconds. */
const slowly = { content: [{ type: "text", text: count, chunkSize: 10 }], delayMs: 100 };
const look = [
  {
    content: [
      { type: "text", text: "Let me look." },
      {
        type: "toolCall",
        id: "call_0",
        name: "bash",
        arguments: { command: "echo seen > seen.txt; cat seen.txt" },
      },
    ],
  },
  // Some models reuse call ids.
  { content: [{ type: "toolCall", id: "call_0", name: "ls", arguments: {} }] },
  { content: "It says seen." },
];
const isAsked = ({ type }: Line) => type === "tool-approval-request";

it("continues in another process after the previous one has suspended the turn and exited, without loss", async () => {
  const { run, hosts } = place([slowly]);
  const first = run({ suspendAfter: "text-delta" });
  const suspended = await first.suspended();
  await first.ended;
  const second = run({ suspended });
  expect(await second.end()).toEqual([]);
  expect(first.text() + second.text()).toBe(count);
  expect(second.lines.map(({ type }) => type)).toContain("finish");
  expect(hosts()).toHaveLength(1);
});

it.each([
  ["its host goes on", false],
  ["its host was killed, too", true],
])("accepts an answer after the process that asked was killed: %s", async (_, isHostKilled) => {
  const { run, follow, hosts, killHost } = place(look);
  const first = run({
    permissionMode: "allow-reads",
    suspendAfter: "tool-approval-request",
    stays: true,
  });
  const suspended = await first.suspended();
  first.child.kill("SIGKILL");
  await first.ended;
  follow(look.slice(1));
  if (isHostKilled) killHost();
  const { approvalId = "" } = await first.line(isAsked);
  const second = run({ permissionMode: "allow-reads", suspended, approve: approvalId });
  expect(await second.end()).toEqual([]);
  expect(second.text()).toBe("It says seen.");
  expect(JSON.stringify(second.lines)).toContain("seen\\n");
  expect(second.lines.filter(isAsked)).toEqual([]);
  const called = second.lines.filter(({ type }) => type === "tool-call");
  expect(called.map(({ toolName }) => toolName)).toContain("ls");
  expect(hosts()).toHaveLength(isHostKilled ? 2 : 1);
});

it("calls the model again for a reply that was cut off with its host", async () => {
  const { run, killHost } = place([slowly]);
  const first = run({ suspendAfter: "text-delta" });
  const suspended = await first.suspended();
  await first.ended;
  killHost();
  const second = run({ suspended });
  expect(await second.end()).toEqual([]);
  expect(second.text()).toBe(count);
  expect(second.lines.map(({ type }) => type)).toContain("finish");
});

it("shows the rest of a turn that had ended before its host was killed", async () => {
  const { run, killHost, stored } = place([slowly]);
  const first = run({ suspendAfter: "text-delta" });
  const suspended = await first.suspended();
  await first.ended;
  await expect.poll(() => stored()).toContain(count);
  killHost();
  const second = run({ suspended });
  expect(await second.end()).toEqual([]);
  expect(first.text() + second.text()).toBe(count);
  expect(second.lines.map(({ type }) => type)).toContain("finish");
});

it.each([
  ["still runs", false],
  ["has ended", true],
])("shows all of a turn whose host has dropped frames, and that %s", async (_, isOver) => {
  const { run, stored } = place([slowly], { replay: { maxBytes: 1 } });
  const first = run({ suspendAfter: "text-delta" });
  const suspended = await first.suspended();
  await first.ended;
  if (isOver) await expect.poll(() => stored()).toContain(count);
  const second = run({ suspended });
  expect(await second.end()).toEqual([]);
  expect(first.text() + second.text()).toBe(count);
});

it("ends a turn with an error if its host dies before anything was stored", async () => {
  const { run, killHost } = place([slowly]);
  const first = run({});
  await first.line(({ type }) => type === "text-delta");
  killHost();
  expect(await first.end()).toHaveLength(1);
  const other = run({ suspendAfter: "text-delta" });
  const { sessionId, state } = await other.suspended();
  killHost();
  const named = JSON.parse(JSON.stringify(state)) as { data: object };
  const lost = { sessionId, state: { ...named, data: { ...named.data, promptId: "other" } } };
  expect(await run({ suspended: lost }).end()).toHaveLength(1);
});

it("leaves no host behind once its session is idle, and continues in a new one", async () => {
  // How long the host waits for a client to serve its workspace; by default, a minute.
  const workspace = { reconnectMs: 5_000 };
  const { run, harness, hosts } = place([slowly], { workspace });
  const idle = { harness: { ...harness, args: ["--session-idle-ms", "1000"] } };
  const first = run({ ...idle, suspendAfter: "text-delta" });
  const suspended = await first.suspended();
  await first.ended;
  const [pid = 0] = hosts();
  await expect.poll(() => isAlive(pid)).toBe(false);
  const second = run({ ...idle, suspended });
  expect(await second.end()).toEqual([]);
  expect(first.text() + second.text()).toBe(count);
  expect(hosts()).toHaveLength(2);
});
