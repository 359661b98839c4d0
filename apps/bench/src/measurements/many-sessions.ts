import { setTimeout as sleep } from "node:timers/promises";
import { now } from "../clock.ts";
import type { FrameReceiver } from "../frame-receiver.ts";
import { type BenchOptions, type Measurement, type Row, summarize } from "../measurement.ts";
import { RemoteModelServer } from "../remote-model-server.ts";
import { settledMib } from "../runs.ts";
import { Workspace } from "../workspace.ts";
import { type SessionProgram, type SessionWay, sessionWays } from "./session-clients.ts";

/** The pace of a fast model: 50 deltas per second. */
const pauseMs = 20;
const text = "twelve chars";
const windowMs = 4_000;
/** A host releases memory a second after its last session has closed. */
const closedMs = 3_000;
const statePauseMs = 100;

/**
 * A number of sessions of one host that stream at once, compared with a program that only forwards their
 * deltas: over stdio, over a WebSocket, and in a program that embeds them.
 */
export const manySessions: readonly Measurement[] = sessionWays.flatMap((way) =>
  [50, 200, 500, 1_000].map((sessions) => ({
    name: `many-sessions${way.suffix}-${sessions}`,
    async run({ isQuick, hostCommand, beforeCommand }: BenchOptions): Promise<Row[]> {
      const count = isQuick ? Math.ceil(sessions / 10) : sessions;
      const floor = await measureFloor(way, count, isQuick);
      const size = { count, isQuick };
      const before = beforeCommand && (await measureHost(way, beforeCommand, size));
      return rowsOf(count, await measureHost(way, hostCommand, size), floor, before);
    },
  })),
);

/** The CPU and memory that a program used while all its sessions streamed, and its delays. */
interface Streamed {
  /** CPU time per delta, in µs. */
  readonly cpu: number;
  /** Time between frames of one session at the client, in ms. */
  readonly gap: number;
  /** Time from `get_state` to its answer, in ms. */
  readonly state: number;
  /** Memory, in MiB. */
  readonly memory: number;
}

interface Hosted extends Streamed {
  /** Memory of a streaming session, in MiB. */
  readonly streaming: number;
  readonly idle: number;
  /** Time to open a session, in ms. */
  readonly opening: number;
  /** Memory after the third wave of sessions is closed, beyond that after the first wave, in MiB. */
  readonly growth: number;
}

async function measureFloor(way: SessionWay, count: number, isQuick: boolean): Promise<Streamed> {
  await using server = await RemoteModelServer.start();
  using workspace = new Workspace();
  const floor = await way.startFloor(workspace);
  const sessions = Array.from({ length: count }, (_, index) => `session-${index}`);
  const streamed = await stream({ ...floor, server, sessions, isQuick });
  await floor.child.stop();
  return streamed;
}

async function measureHost(
  way: SessionWay,
  hostCommand: BenchOptions["hostCommand"],
  { count, isQuick }: { readonly count: number; readonly isQuick: boolean },
): Promise<Hosted> {
  await using server = await RemoteModelServer.start();
  using workspace = new Workspace(server.baseUrl);
  const host = await way.startHost(workspace, hostCommand);
  const { child, client } = host;
  await client.request("initialize", { stream: "delta" });
  // The first session loads what all sessions share.
  const [first = ""] = await openAll(client, workspace, 1);
  const ended = client.next(({ type }) => type === "agent_settled");
  client.send({ type: "prompt", sessionId: first, message: "Go on." });
  await ended;
  const empty = await settledMib(child);
  const begun = child.cpuMicroseconds();
  const sessions = await openAll(client, workspace, count);
  const opening = (child.cpuMicroseconds() - begun) / 1_000 / count;
  const streamed = await stream({ ...host, server, sessions, isQuick });
  const idle = await settledMib(child);
  await closeAll(client, sessions);
  const afterFirst = await settledMib(child);
  for (let wave = 0; wave < 2; wave += 1) {
    const again = await openAll(client, workspace, count);
    await stream({ ...host, server, sessions: again, isQuick: true });
    await closeAll(client, again);
  }
  const growth = (await settledMib(child)) - afterFirst;
  await child.stop();
  const perSession = (memory: number) => (memory - empty) / count;
  return {
    ...streamed,
    streaming: perSession(streamed.memory),
    idle: perSession(idle),
    ...{ opening, growth },
  };
}

async function openAll(host: FrameReceiver, { cwd }: Workspace, count: number): Promise<string[]> {
  const sessions: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const opened = await host.request("open_session", { cwd });
    const { sessionId } = opened as { readonly sessionId: string };
    await host.request("initialize", { sessionId, stream: "delta" });
    sessions.push(sessionId);
  }
  return sessions;
}

async function closeAll(host: FrameReceiver, sessions: readonly string[]): Promise<void> {
  for (const sessionId of sessions) await host.request("close_session", { sessionId });
  await sleep(closedMs);
}

interface Wave extends SessionProgram {
  readonly server: RemoteModelServer;
  readonly sessions: readonly string[];
  readonly isQuick: boolean;
}

/** Makes all sessions stream, and measures between the start of the last reply and the end of the first. */
async function stream({ child, client, server, sessions, isQuick }: Wave): Promise<Streamed> {
  const measuredMs = isQuick ? 1_000 : windowMs;
  const count = sessions.length;
  const seen = new Map<string, number>();
  const gaps: number[] = [];
  let deltas = 0;
  const all = Promise.withResolvers<void>();
  client.onUpdate = (line) => {
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
  // The first sessions must still stream when the last one begins, however long a prompt takes.
  const length = Math.ceil((measuredMs + 1_000 + count * 10) / pauseMs);
  await server.reply({ text, count: length, pauseMs, eventsPerWrite: 1, times: count });
  let running = count;
  const done = client.next(({ type }) => type === "agent_settled" && --running === 0);
  for (const sessionId of sessions) {
    client.send({ type: "prompt", sessionId, message: "Go on.", url: server.baseUrl });
  }
  await all.promise;
  await sleep(300);
  gaps.length = 0;
  deltas = 0;
  const [begun, cpu] = [now(), child.cpuMicroseconds()];
  const states: number[] = [];
  while (now() - begun < measuredMs) {
    const asked = now();
    await client.request("get_state", { sessionId: sessions[states.length % count] });
    states.push(now() - asked);
    await sleep(statePauseMs);
  }
  if (running < count) throw new Error("A session ended before the last one was measured");
  const spent = (child.cpuMicroseconds() - cpu) / deltas;
  const memory = child.proportionalMib();
  const measured = { cpu: spent, gap: percentile(gaps), state: percentile(states), memory };
  await done;
  client.onUpdate = undefined;
  return measured;
}

/** The value of a text member; parsing each line would make the client the bottleneck. */
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

function rowsOf(count: number, host: Hosted, floor: Streamed, before?: Hosted): Row[] {
  const row = (what: string, unit: string, kind: keyof Hosted): Row => ({
    what: `${count} sessions: ${what}`,
    unit,
    host: summarize([host[kind]]),
    ...(kind in floor && besideFloor(host[kind], floor[kind as keyof Streamed])),
    ...(before && { before: summarize([before[kind]]) }),
  });
  return [
    row("CPU per delta", "µs", "cpu"),
    row("gap between frames, p99", "ms", "gap"),
    row("get_state meanwhile, p99", "ms", "state"),
    row("memory of one that streams (PSS)", "MiB", "streaming"),
    row("memory of one after it (PSS)", "MiB", "idle"),
    row("CPU of opening one", "ms", "opening"),
    row("memory that two more waves add", "MiB", "growth"),
  ];
}

function besideFloor(host: number, floor: number): Partial<Row> {
  return { floor: summarize([floor]), ratioOf: "host / floor", ratio: host / floor };
}
