import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";

/** What to look for in the table of running processes. */
export interface ProcessSearch {
  /** Found in the environment a process was started with. */
  readonly mark: string;
  /** Leaders of process groups; what runs in the groups or descends from it is found too. */
  readonly leaders: Iterable<number>;
}

interface Row {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
}

/**
 * The processes of this user that carry the mark, with everything that descends from them, by what
 * Linux shows in /proc. None where there is no /proc. A process that has left its group (`setsid`)
 * still has the environment, one that was given another environment still has its parent; only who
 * has neither is not found.
 */
export function findProcesses(search: ProcessSearch): Set<number> {
  const found = new Set<number>();
  if (process.platform !== "linux") return found;
  const reader = new ProcReader();
  const leaders = new Set(search.leaders);
  const mark = Buffer.from(search.mark);
  const children = new Map<number, number[]>();
  for (const { pid, parent, group } of reader.rows()) {
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [pid]);
    else siblings.push(pid);
    if (leaders.has(group) || reader.read(pid, "environ").includes(mark)) found.add(pid);
  }
  // A set hands out what is added while it is gone through.
  for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child);
  found.delete(process.pid);
  return found;
}

/** Reads small files of /proc into one buffer, which takes a tenth of the time of a buffer each. */
class ProcReader {
  #buffer = Buffer.alloc(64 * 1024);

  /** Processes of this user; others can be neither read nor killed. */
  *rows(): Generator<Row> {
    const user = process.geteuid?.();
    for (const name of attempt(() => readdirSync("/proc")) ?? []) {
      const pid = Number(name);
      if (!Number.isInteger(pid)) continue;
      const owner = attempt(() => statSync(`/proc/${name}`, { throwIfNoEntry: false }))?.uid;
      if (owner === undefined || (user !== 0 && owner !== user)) continue;
      const status = this.read(pid, "stat").toString("latin1");
      // The name before it is in parentheses and may hold any character.
      const fields = status.slice(status.lastIndexOf(")") + 2).split(" ", 3);
      yield { pid, parent: Number(fields[1]), group: Number(fields[2]) };
    }
  }

  /** The content, valid until the next call; nothing for a process that is gone. */
  read(pid: number, name: "stat" | "environ"): Buffer {
    let length = 0;
    try {
      const file = openSync(`/proc/${pid}/${name}`, "r");
      try {
        for (;;) {
          const count = readSync(file, this.#buffer, length, this.#buffer.length - length, null);
          if (count === 0) break;
          length += count;
          if (length === this.#buffer.length) {
            this.#buffer = Buffer.concat([this.#buffer], 4 * length);
          }
        }
      } finally {
        closeSync(file);
      }
    } catch {
      // It has ended, or is not to be read.
    }
    return this.#buffer.subarray(0, length);
  }
}

/** What a call gives; nothing when it throws, since processes end while they are looked at. */
function attempt<Value>(call: () => Value): Value | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}
