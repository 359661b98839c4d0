import { createWriteStream } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { describePast } from "@tau-agent/sessions/files";
import type { Child } from "../../child.ts";
import { now } from "../../clock.ts";
import { medianOf, promptToRequest, timedRequest } from "../../runs.ts";
import { firstKeptAt, sessionLines } from "../../session-lines.ts";
import { startFloor } from "../floors.ts";
import { startHost } from "../hosts.ts";
import { type Contestant, type Stage, scenario } from "../scenario.ts";

const entries = ({ isQuick }: Stage) => (isQuick ? 10_000 : 100_000);

/** A long session without a compaction. */
export const longSession = scenario({
  rows: {
    "session-state": {
      what: "100 000 entries: spawn → get_state",
      peer: 0.3,
      floor: 0.6,
    },
    "session-memory": { what: "the same: resident memory then", unit: "MiB" },
    "session-get-messages": { what: "the same: get_messages", peer: 0.6 },
    "session-fork-messages": { what: "the same: get_fork_messages", peer: 1 },
    "session-first-request": {
      what: "the same: prompt → first request received",
      peer: 0.4,
    },
    "session-append": { what: "the same: set_session_name", peer: 1 },
    "session-fork": { what: "the same: fork", peer: 0.15 },
    "session-switch": { what: "switch_session to it", peer: 0.45 },
  },
  rounds: 3,
  warmUps: 0,
  host: async (stage, contestant) => {
    const path = await writeSession(stage, { count: entries(stage) });
    return async () => {
      const work = await workingCopy(path);
      const opened = await openSession(stage, contestant, work);
      const messages = await timedRequest(opened.host, "get_messages");
      const texts = await timedRequest(opened.host, "get_fork_messages");
      const append = await timedRequest(opened.host, "set_session_name", { name: "named" });
      await opened.host.stop();
      const later = await useSession(stage, contestant, work);
      return {
        "session-state": opened.elapsed,
        "session-append": append,
        "session-memory": opened.memory,
        "session-get-messages": messages,
        "session-fork-messages": texts,
        "session-first-request": later.firstRequest,
        "session-fork": later.fork,
        "session-switch": later.switched,
      };
    };
  },
  floor: async (stage) => {
    const path = await writeSession(stage, { count: entries(stage) });
    return async () => ({ "session-state": await parseSession(stage, path) });
  },
});

/** The same with a compaction near the end. */
export const compactedSession = scenario({
  rows: {
    "compacted-state": {
      what: "100 000 entries compacted near the end: spawn → get_state",
      peer: 0.1,
    },
    "compacted-memory": { what: "the same: resident memory then", unit: "MiB", peer: 0.35 },
    "compacted-get-state": { what: "the same: get_state again", peer: 1 },
    "compacted-get-messages": { what: "the same: get_messages", peer: 1 },
    "compacted-first-request": {
      what: "the same: prompt → first request received",
      peer: 0.4,
    },
    "compacted-fork": { what: "the same: fork", peer: 0.15 },
  },
  rounds: 3,
  warmUps: 0,
  host: async (stage, contestant) => {
    const count = entries(stage);
    const path = await writeSession(stage, { count, compactedAt: count - 20 });
    return async () => {
      const work = await workingCopy(path);
      const opened = await openSession(stage, contestant, work);
      const again = await medianOf(20, () => timedRequest(opened.host, "get_state"));
      const messages = await timedRequest(opened.host, "get_messages");
      const firstRequest = await promptToRequest(opened.host, stage.server);
      const fork = await timeFork(opened.host);
      await opened.host.stop();
      return {
        "compacted-state": opened.elapsed,
        "compacted-memory": opened.memory,
        "compacted-get-state": again,
        "compacted-get-messages": messages,
        "compacted-first-request": firstRequest,
        "compacted-fork": fork,
      };
    };
  },
  floor: async (stage) => {
    const path = await writeSession(stage, { count: entries(stage) });
    return async () => ({ "compacted-state": await parseSession(stage, path) });
  },
});

const SHORT = 1_000;

/** The first use of a session of typical length. */
export const shortSession = scenario({
  rows: {
    "short-switch": { what: "switch_session to 1 000 entries", peer: 1 },
    "short-first-request": {
      what: "1 000 entries: prompt → first request received",
      peer: 1,
    },
    "short-fork": { what: "1 000 entries: fork", peer: 1 },
  },
  rounds: 9,
  host: async (stage, contestant) => {
    const path = await writeSession(stage, { count: SHORT });
    return async () => {
      const later = await useSession(stage, contestant, await workingCopy(path));
      return {
        "short-switch": later.switched,
        "short-first-request": later.firstRequest,
        "short-fork": later.fork,
      };
    };
  },
});

/** Lists of a session of typical length. */
export const sessionLists = scenario({
  rows: {
    "fork-messages": { what: "1 000 entries: get_fork_messages", peer: 1 },
    "entries-since": {
      what: "1 000 entries: get_entries since the last but one",
      peer: 1,
    },
  },
  rounds: 9,
  warmUps: 2,
  host: async (stage, contestant) => {
    const path = await writeSession(stage, { count: SHORT });
    const host = await startHost(stage, contestant, ["--session", path]);
    const since = (SHORT - 1).toString(16).padStart(8, "0");
    return async () => ({
      "fork-messages": await medianOf(20, () => timedRequest(host, "get_fork_messages")),
      "entries-since": await medianOf(20, () => timedRequest(host, "get_entries", { since })),
    });
  },
});

async function writeSession(
  { workspace }: Stage,
  { count, compactedAt }: { count: number; compactedAt?: number },
): Promise<string> {
  const path = join(workspace.cwd, "..", "session.jsonl");
  const write = (compaction?: object) =>
    pipeline(sessionLines(count, workspace.cwd, compaction), createWriteStream(path));
  await write();
  if (compactedAt !== undefined) {
    // The summary that Tau writes when it compacts the session.
    const past = await describePast(path, firstKeptAt(compactedAt));
    await write({ compactedAt, past });
  }
  return path;
}

/** A copy, because hosts write to the files they open. */
async function workingCopy(path: string): Promise<string> {
  const copy = `${path}.work.jsonl`;
  await copyFile(path, copy);
  return copy;
}

async function openSession(stage: Stage, contestant: Contestant, path: string) {
  const begun = now();
  const host = await startHost(stage, contestant, ["--session", path]);
  return { host, elapsed: now() - begun, memory: host.residentMib() };
}

/** Actions in a host that was started without the session. */
async function useSession(stage: Stage, contestant: Contestant, path: string) {
  const host = await startHost(stage, contestant, []);
  const switched = await timedRequest(host, "switch_session", { sessionPath: path });
  const firstRequest = await promptToRequest(host, stage.server);
  const fork = await timeFork(host);
  await host.stop();
  return { switched, firstRequest, fork };
}

/** Forks at the last user message, so that nearly everything is kept. */
async function timeFork(host: Child): Promise<number> {
  const { messages } = (await host.request("get_fork_messages")) as {
    messages: { entryId: string }[];
  };
  return timedRequest(host, "fork", { entryId: messages.at(-1)?.entryId });
}

async function parseSession(stage: Stage, path: string): Promise<number> {
  const begun = now();
  const floor = startFloor(stage, "read-session", path);
  await floor.next((frame) => frame.type === "response");
  const elapsed = now() - begun;
  await floor.stop();
  return elapsed;
}
