import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Child } from "../child.ts";
import { type BenchOptions, type Measurement, type Row, summarize } from "../measurement.ts";
import { proportionalMib } from "../process-usage.ts";
import { RemoteModelServer } from "../remote-model-server.ts";
import { cpuOf, settledMib } from "../runs.ts";
import { Workspace } from "../workspace.ts";

/** The pace of a fast model: 50 deltas per second. */
const PAUSE_MS = 20;
const mcpServer = fileURLToPath(new URL("../floors/mcp-server.mjs", import.meta.url));

/** The memory and CPU cost of one more session and of one more MCP server; docs/costs.md shows the results. */
export const sessionCosts: Measurement = {
  name: "session-costs",
  async run(options: BenchOptions): Promise<Row[]> {
    return [...(await sessionRows(options)), ...(await serverRows(options))];
  },
};

async function sessionRows({ isQuick, hostCommand }: BenchOptions): Promise<Row[]> {
  const count = isQuick ? 4 : 40;
  const deltas = isQuick ? 50 : 250;
  await using server = await RemoteModelServer.start();
  using workspace = new Workspace(server.baseUrl);
  const host = workspace.spawn(workspace.command(hostCommand, ["--sessions", "--no-session"]));
  await host.request("get_capabilities");
  // The first session loads what all sessions share.
  const first = await open(host, workspace);
  await prompt(host, first);
  const empty = await settledMib(host);
  const sessions: string[] = [];
  for (let index = 0; index < count; index += 1) sessions.push(await open(host, workspace));
  const opened = await settledMib(host);
  for (const sessionId of sessions) await prompt(host, sessionId);
  const prompted = await settledMib(host);
  const plan = { text: "twelve chars", count: deltas, pauseMs: PAUSE_MS, eventsPerWrite: 1 };
  await server.reply({ ...plan, times: count });
  const startedAt = performance.now();
  const used = await cpuOf(host, () => Promise.all(sessions.map((id) => prompt(host, id))));
  const share = used / 1e6 / ((performance.now() - startedAt) / 1000) / count;
  const afterwards = await settledMib(host);
  await host.stop();
  return [
    row("a host with one session, after a prompt (PSS)", "MiB", empty),
    row(`one more open session, of ${count}`, "MiB", (opened - empty) / count),
    row("the same after a prompt", "MiB", (prompted - empty) / count),
    row(
      `the same after ${deltas} deltas at once with the others`,
      "MiB",
      (afterwards - empty) / count,
    ),
    row(
      `CPU of a session that streams ${1000 / PAUSE_MS} deltas a second`,
      "% of a core",
      100 * share,
    ),
    row("sessions that stream so, per core", "", 1 / share),
  ];
}

async function serverRows({ isQuick, hostCommand }: BenchOptions): Promise<Row[]> {
  const memory = async (servers: number): Promise<{ host: number; programs: number }> => {
    using workspace = new Workspace();
    const entry = { command: process.execPath, args: [mcpServer] };
    const mcpServers = Object.fromEntries(
      Array.from({ length: servers }, (_, index) => [`s${index}`, entry]),
    );
    writeFileSync(join(workspace.agentDirectory, "mcp.json"), JSON.stringify({ mcpServers }));
    const host = workspace.spawn(workspace.command(hostCommand, ["--no-session"]));
    const connected = async () => {
      const { servers: all } = (await host.request("get_mcp_servers")) as {
        readonly servers: readonly { readonly status: string }[];
      };
      return all.filter(({ status }) => status === "connected").length;
    };
    for (let wait = 0; (await connected()) < servers && wait < 100; wait += 1) await sleep(100);
    if ((await connected()) < servers) throw new Error("The MCP servers did not start");
    const resident = await settledMib(host);
    const programs = childrenOf(host.pid).reduce((sum, pid) => sum + proportionalMib(pid), 0);
    await host.stop();
    return { host: resident, programs };
  };
  const servers = isQuick ? 1 : 4;
  const [without, withAll] = [await memory(0), await memory(servers)];
  return [
    row(
      "one more MCP server on stdio, in the host",
      "MiB",
      (withAll.host - without.host) / servers,
    ),
    row("its own process, a least program in Node", "MiB", withAll.programs / servers),
  ];
}

async function open(host: Child, { cwd }: Workspace): Promise<string> {
  const { sessionId } = (await host.request("open_session", { cwd })) as { sessionId: string };
  return sessionId;
}

async function prompt(host: Child, sessionId: string): Promise<void> {
  const ended = host.next(
    (frame) => frame.type === "agent_settled" && frame.sessionId === sessionId,
  );
  await host.request("prompt", { sessionId, message: "Go on." });
  await ended;
}

function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === parent;
      } catch {
        return false;
      }
    })
    .map(Number);
}

function row(what: string, unit: string, value: number): Row {
  return { what, unit, host: summarize([value]) };
}
