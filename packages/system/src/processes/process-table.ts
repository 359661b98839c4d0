import { readdirSync, readFileSync, statSync } from "node:fs";
import { attempt } from "../base/attempt.ts";
import { limitName } from "./limit-mark.ts";
import { ownersVariable } from "./process-owners.ts";

/** Marks a process that belongs to no host: the variable is set but empty. */
const nobodysMark = `\0${ownersVariable}=\0`;
const anyMark = `\0${ownersVariable}=`;

/** So many processes may be started during a search. */
const maxNewProcesses = 1_000;

/** A moment in the life of the system, told by the processes started until then. */
export interface ProcessMoment {
  readonly lastPid: number;
  /** The number of processes and threads started since the system was. */
  readonly started: number;
}

export interface ProcessSearch {
  /** The mark to find in the environment that a process was started with. */
  readonly mark: string;
  /** The other mark, or its beginning, for a process whose environment carries the mark of no host. */
  readonly limit?: string | undefined;
  /** A moment before the mark was first given; no older process carries it. */
  readonly since?: ProcessMoment | undefined;
  /** Leaders of process groups; processes in these groups and their descendants are found too. */
  readonly leaders: ReadonlySet<number>;
}

interface Row {
  readonly pid: number;
  readonly state: string;
  readonly parent: number;
  readonly group: number;
}

/**
 * Finds the processes of this user that carry the mark, and all their descendants, in Linux's /proc;
 * none where there is no /proc. A process that has left its group (`setsid`) still has the
 * environment, and one with a replaced environment still has the limit or its parent. A process marked
 * as belonging to no host is found only if it is in one of the groups.
 */
export function createProcessFinder({ leaders, mark, limit, since }: ProcessSearch) {
  const user = process.geteuid?.();
  // Most processes are older than any command, and reading about each takes 30 µs (row `call-abort`).
  const [first, last] = (since && pidsSince(since)) ?? [0, Number.POSITIVE_INFINITY];
  const seen = new Set([process.pid]);
  const found = new Set<number>();
  const children = new Map<number, number[]>();
  const ownLimit = limit === undefined ? undefined : limitName + limit;

  function isMarked(pid: number, environment: string): boolean {
    if (environment.includes(mark)) return true;
    if (ownLimit === undefined || environment.includes(anyMark)) return false;
    return readProcess(pid, "limits").includes(ownLimit);
  }

  return {
    /**
     * Checks only processes that were not checked before: marks are inherited, so a process without one
     * never gets one. Yields each process as soon as it is found, the youngest first, so that it can be
     * stopped before it starts another.
     */
    *findNew(): Generator<number> {
      for (const pid of processIds()) {
        if (pid < first || pid > last || seen.has(pid)) continue;
        seen.add(pid);
        const row = rowOf(pid, user);
        if (row === undefined || row.state === "Z") continue;
        const isInGroup = leaders.has(row.group);
        const environment = isInGroup ? undefined : environmentOf(pid);
        if (environment?.includes(nobodysMark)) continue;
        const siblings = children.get(row.parent);
        if (siblings === undefined) children.set(row.parent, [pid]);
        else siblings.push(pid);
        if (environment !== undefined && !isMarked(pid, environment)) continue;
        found.add(pid);
        yield pid;
      }
      // Iterating a set includes members added during the iteration.
      for (const pid of found) {
        for (const child of children.get(pid) ?? []) {
          if (found.has(child)) continue;
          found.add(child);
          yield child;
        }
      }
    },
  };
}

/** Whether a process has ended and only its exit code remains; false where there is no /proc. */
export function isZombie(pid: number): boolean {
  return rowOf(pid, process.geteuid?.())?.state === "Z";
}

/** Now; undefined where /proc does not tell. */
export function processMoment(): ProcessMoment | undefined {
  if (process.platform !== "linux") return undefined;
  const lastPid = Number(readSystem("loadavg").trimEnd().split(" ").at(-1));
  const started = Number(/^processes (\d+)$/m.exec(readSystem("stat"))?.[1]);
  return lastPid > 0 && started > 0 ? { lastPid, started } : undefined;
}

/** The first and last id of processes started since then; undefined if ids have begun again, or are about to. */
function pidsSince(then: ProcessMoment): readonly [number, number] | undefined {
  const now = processMoment();
  const max = Number(readSystem("sys/kernel/pid_max"));
  if (now === undefined || now.lastPid < then.lastPid) return undefined;
  const last = now.lastPid + maxNewProcesses;
  const given = now.started - then.started + maxNewProcesses;
  return Math.max(last, given) < max ? [then.lastPid + 1, last] : undefined;
}

/** From the highest id, usually the youngest process, to the lowest. */
function processIds(): number[] {
  if (process.platform !== "linux") return [];
  const names = attempt(() => readdirSync("/proc")) ?? [];
  return names
    .map(Number)
    .filter(Number.isInteger)
    .sort((one, other) => other - one);
}

/** Undefined if the process is gone or belongs to another user, and so can be neither read nor killed. */
function rowOf(pid: number, user: number | undefined): Row | undefined {
  if (user !== 0) {
    const owner = attempt(() => statSync(`/proc/${pid}`, { throwIfNoEntry: false }))?.uid;
    if (owner !== user) return undefined;
  }
  const status = readProcess(pid, "stat");
  // The name before these fields is in parentheses and may contain any character.
  const fields = status.slice(status.lastIndexOf(")") + 2).split(" ", 3);
  const [state = "", parent, group] = fields;
  return state === "" ? undefined : { pid, state, parent: Number(parent), group: Number(group) };
}

/** Variables with a NUL before and after each. */
function environmentOf(pid: number): string {
  return `\0${readProcess(pid, "environ")}`;
}

/**
 * Empty for a process that is gone or cannot be read. As text, because Node reads a file as UTF-8 in one call, in
 * half the time of opening, reading and closing it (row `call-abort`).
 */
function readProcess(pid: number, name: "stat" | "environ" | "limits"): string {
  return readSystem(`${pid}/${name}`);
}

function readSystem(path: string): string {
  return attempt(() => readFileSync(`/proc/${path}`, "utf8")) ?? "";
}
