import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { attempt } from "../base/attempt.ts";
import { limitName } from "./limit-mark.ts";
import { ownersVariable } from "./process-owners.ts";

/** Marks a process that belongs to no host: the variable is set but empty. */
const nobodysMark = `\0${ownersVariable}=\0`;
const anyMark = `\0${ownersVariable}=`;

export interface ProcessSearch {
  /** The mark to find in the environment that a process was started with. */
  readonly mark: string;
  /** The other mark, or its beginning, for a process whose environment carries the mark of no host. */
  readonly limit?: string | undefined;
  /** Whether this process made the mark, so that no older process carries it. */
  readonly isOwnMark?: boolean | undefined;
  /** Leaders of process groups; processes in these groups and their descendants are found too. */
  readonly leaders: ReadonlySet<number>;
}

interface Row {
  readonly pid: number;
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  /** In ticks since the start of the system. */
  readonly startedAt: number;
}

/**
 * Finds the processes of this user that carry the mark, and all their descendants, in Linux's /proc;
 * none where there is no /proc. A process that has left its group (`setsid`) still has the
 * environment, and one with a replaced environment still has the limit or its parent. A process marked
 * as belonging to no host is found only if it is in one of the groups.
 */
export function createProcessFinder({ leaders, mark, limit, isOwnMark = false }: ProcessSearch) {
  const reader = new ProcReader();
  // Processes that started earlier cannot carry the mark, so they are skipped (row `call-abort`).
  const oldest = isOwnMark ? (reader.row(process.pid)?.startedAt ?? 0) : 0;
  const seen = new Set([process.pid]);
  const found = new Set<number>();
  const children = new Map<number, number[]>();
  const ownMark = Buffer.from(mark);
  const ownLimit = limit === undefined ? undefined : limitName + limit;

  function isMarked(pid: number, environment: Buffer): boolean {
    if (environment.includes(ownMark)) return true;
    if (ownLimit === undefined || environment.includes(anyMark)) return false;
    return reader.limits(pid).includes(ownLimit);
  }

  return {
    /**
     * Checks only processes that were not checked before: marks are inherited, so a process without one
     * never gets one. Yields each process as soon as it is found, the youngest first, so that it can be
     * stopped before it starts another.
     */
    *findNew(): Generator<number> {
      for (const pid of reader.pids()) {
        if (seen.has(pid)) continue;
        seen.add(pid);
        const row = reader.row(pid);
        if (row === undefined || row.state === "Z" || row.startedAt < oldest) continue;
        const isInGroup = leaders.has(row.group);
        const environment = isInGroup ? undefined : reader.environment(pid);
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
  return new ProcReader().row(pid)?.state === "Z";
}

/**
 * Reads small files of /proc into one buffer, which takes a tenth of the time that a new buffer for each file would.
 */
class ProcReader {
  #buffer = Buffer.alloc(64 * 1024);

  /** From the highest id, usually the youngest process, to the lowest. */
  pids(): number[] {
    if (process.platform !== "linux") return [];
    const names = attempt(() => readdirSync("/proc")) ?? [];
    return names.map(Number).filter(Number.isInteger).reverse();
  }

  /** Undefined if the process is gone or belongs to another user, and so can be neither read nor killed. */
  row(pid: number): Row | undefined {
    const user = process.geteuid?.();
    if (user !== 0) {
      const owner = attempt(() => statSync(`/proc/${pid}`, { throwIfNoEntry: false }))?.uid;
      if (owner !== user) return undefined;
    }
    const status = this.#read(pid, "stat").toString("latin1");
    // The name before these fields is in parentheses and may contain any character.
    const fields = status.slice(status.lastIndexOf(")") + 2).split(" ", 20);
    const [state = ""] = fields;
    if (state === "" || state === "\0") return undefined;
    const [parent, group, startedAt] = [1, 2, 19].map((index) => Number(fields[index]));
    return { pid, state, parent, group, startedAt } as Row;
  }

  /** Variables with a NUL before and after each, valid until the next call. */
  environment(pid: number): Buffer {
    return this.#read(pid, "environ");
  }

  /** The limits of a process, one per line, valid until the next call. */
  limits(pid: number): Buffer {
    return this.#read(pid, "limits");
  }

  /** The content after a NUL; empty for a process that is gone. */
  #read(pid: number, name: "stat" | "environ" | "limits"): Buffer {
    let length = 1;
    try {
      const file = openSync(`/proc/${pid}/${name}`, "r");
      try {
        for (;;) {
          const count = readSync(file, this.#buffer, length, this.#buffer.length - length, null);
          length += count;
          // The first read returns a single line completely.
          if (count === 0 || name === "stat") break;
          if (length === this.#buffer.length) {
            this.#buffer = Buffer.concat([this.#buffer], 4 * length);
          }
        }
      } finally {
        closeSync(file);
      }
    } catch {
      // The process has ended or cannot be read.
    }
    return this.#buffer.subarray(0, length);
  }
}
