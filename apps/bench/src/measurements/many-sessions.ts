import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Child } from "../child.ts";
import { now } from "../clock.ts";
import {
  type BenchOptions,
  comparedRow,
  type Measurement,
  type Row,
  summarize,
} from "../measurement.ts";
import { RemoteModelServer } from "../remote-model-server.ts";
import { Workspace } from "../workspace.ts";

/** The pace of a quick model: 50 deltas a second. */
const pauseMs = 20;
const text = "twelve chars";
const windowMs = 4_000;
const settleMs = 1_000;
const statePauseMs = 100;
const floorProgram = fileURLToPath(new URL("../floors/many-deltas.mjs", import.meta.url));

/** So many sessions of one host that stream at once, beside a program that only moves their deltas. */
export const manySessions: readonly Measurement[] = [50, 200, 500, 1_000].map((sessions) => ({
  name: `many-sessions-${sessions}`,
  async run({ isQuick, hostCommand }: BenchOptions): Promise<Row[]> {
    const count = isQuick ? Math.ceil(sessions / 10) : sessions;
    const floor = await measureFloor(count, isQuick);
    return rowsOf(count, await measureHost(hostCommand, count, isQuick), floor);
  },
}));

/** What a program spent while all its sessions streamed, and how late it was. */
interface Streamed {
  /** In µs of CPU, per delta. */
  readonly cpu: number;
  /** In ms, between frames of one session at the client. */
  readonly gap: number;
  /** In ms, from `get_state` to its answer. */
  readonly state: number;
  /** In MiB. */
  readonly memory: number;
}

interface Hosted extends Streamed {
  /** In MiB per session. */
  readonly streaming: number;
  readonly idle: number;
  /** In ms per session. */
  readonly opening: number;
  /** In MiB, beyond that after the first wave, once the second is closed as well. */
  readonly growth: number;
}

async function measureFloor(count: number, isQuick: boolean): Promise<Streamed> {
  await using server = await RemoteModelServer.start();
  using workspace = new Workspace();
  const floor = workspace.spawn([process.execPath, floorProgram]);
  const sessions = Array.from({ length: count }, (_, index) => `session-${index}`);
  const streamed = await stream({ child: floor, server, sessions, isQuick });
  await floor.stop();
  return streamed;
}

async function measureHost(
  hostCommand: BenchOptions["hostCommand"],
  count: number,
  isQuick: boolean,
): Promise<Hosted> {
  await using server = await RemoteModelServer.start();
  using workspace = new Workspace(server.baseUrl);
  const host = workspace.spawn(workspace.command(hostCommand, ["--sessions", "--no-session"]));
  await host.request("initialize", { stream: "delta" });
  // The first session loads what all of them share.
  const [first = ""] = await openAll(host, workspace, 1);
  const ended = host.next(({ type }) => type === "agent_settled");
  host.send({ type: "prompt", sessionId: first, message: "Go on." });
  await ended;
  const empty = await settled(host);
  const begun = performance.now();
  const sessions = await openAll(host, workspace, count);
  const opening = (performance.now() - begun) / count;
  const streamed = await stream({ child: host, server, sessions, isQuick });
  const idle = await settled(host);
  await closeAll(host, sessions);
  const afterFirst = await settled(host);
  const again = await openAll(host, workspace, count);
  await stream({ child: host, server, sessions: again, isQuick: true });
  await closeAll(host, again);
  const growth = (await settled(host)) - afterFirst;
  await host.stop();
  const perSession = (memory: number) => (memory - empty) / count;
  return {
    ...streamed,
    streaming: perSession(streamed.memory),
    idle: perSession(idle),
    ...{ opening, growth },
  };
}

async function openAll(host: Child, { cwd }: Workspace, count: number): Promise<string[]> {
  const sessions: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const opened = await host.request("open_session", { cwd });
    const { sessionId } = opened as { readonly sessionId: string };
    await host.request("initialize", { sessionId, stream: "delta" });
    sessions.push(sessionId);
  }
  return sessions;
}

async function closeAll(host: Child, sessions: readonly string[]): Promise<void> {
  for (const sessionId of sessions) await host.request("close_session", { sessionId });
}

interface Wave {
  readonly child: Child;
  readonly server: RemoteModelServer;
  readonly sessions: readonly string[];
  readonly isQuick: boolean;
}

/** Lets all sessions stream, and measures while none has yet to begin and none has ended. */
async function stream({ child, server, sessions, isQuick }: Wave): Promise<Streamed> {
  const measuredMs = isQuick ? 1_000 : windowMs;
  const count = sessions.length;
  const seen = new Map<string, number>();
  const gaps: number[] = [];
  let deltas = 0;
  const all = Promise.withResolvers<void>();
  child.onUpdate = (line) => {
    const frame = line.toString("latin1");
    const delta = memberOf(frame, "delta");
    if (delta === undefined) return;
    const sessionId = memberOf(frame, "sessionId") ?? "";
    const at = now();
    const last = seen.get(sessionId);
    seen.set(sessionId, at);
    deltas += delta.length / text.length;
    if (last !== undefined) gaps.push(at - last);
    else if (seen.size === count) all.resolve();
  };
  // The first sessions must still stream when the last one begins, whatever a prompt takes.
  const length = Math.ceil((measuredMs + 1_000 + count * 10) / pauseMs);
  await server.reply({ text, count: length, pauseMs, eventsPerWrite: 1, times: count });
  let running = count;
  const done = child.next(({ type }) => type === "agent_settled" && --running === 0);
  for (const sessionId of sessions) {
    child.send({ type: "prompt", sessionId, message: "Go on.", url: server.baseUrl });
  }
  await all.promise;
  await sleep(300);
  gaps.length = 0;
  deltas = 0;
  const [begun, cpu] = [now(), child.cpuMicroseconds()];
  const states: number[] = [];
  while (now() - begun < measuredMs) {
    const asked = now();
    await child.request("get_state", { sessionId: sessions[states.length % count] });
    states.push(now() - asked);
    await sleep(statePauseMs);
  }
  if (running < count) throw new Error("A session ended before the last one was measured");
  const spent = (child.cpuMicroseconds() - cpu) / deltas;
  const memory = child.proportionalMib();
  const measured = { cpu: spent, gap: percentile(gaps), state: percentile(states), memory };
  await done;
  child.onUpdate = undefined;
  return measured;
}

/** Of a member with a plain text; parsing each line would make the client the slowest of all. */
function memberOf(frame: string, name: string): string | undefined {
  const start = frame.indexOf(`"${name}":"`);
  if (start === -1) return undefined;
  const from = start + name.length + 4;
  return frame.slice(from, frame.indexOf('"', from));
}

function percentile(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN;
}

async function settled(host: Child): Promise<number> {
  await sleep(settleMs);
  return host.proportionalMib();
}

function rowsOf(count: number, host: Hosted, floor: Streamed): Row[] {
  const beside = (what: string, unit: string, kind: keyof Streamed): Row =>
    comparedRow(
      { what: `${count} sessions: ${what}`, unit, ratioOf: "host / floor" },
      { host: [host[kind]], floor: [floor[kind]] },
    );
  const alone = (what: string, unit: string, value: number): Row => ({
    what: `${count} sessions: ${what}`,
    unit,
    host: summarize([value]),
  });
  return [
    beside("CPU per delta", "µs", "cpu"),
    beside("gap between frames, p99", "ms", "gap"),
    beside("get_state meanwhile, p99", "ms", "state"),
    alone("memory of one that streams (PSS)", "MiB", host.streaming),
    alone("memory of one after it (PSS)", "MiB", host.idle),
    alone("opening one", "ms", host.opening),
    alone("memory that a second wave adds", "MiB", host.growth),
  ];
}
