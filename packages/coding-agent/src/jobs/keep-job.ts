import type { JobEnd } from "./job-record.ts";
import type { createJobWriter, StreamMask } from "./job-writer.ts";

export interface KeepRequest {
  readonly folder: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string>>;
  /** What the environment of the job's processes carries. */
  readonly mark: string;
  /** Keys that are not written, the longest first. */
  readonly keys: readonly string[];
  readonly keyMark: string;
  readonly timeoutMs?: number | undefined;
}

/** The keeper's one line: undefined members when the job runs. */
export interface KeepAnswer {
  readonly error?: string;
}

// Each function below runs from its own source text: nothing outside of it may be used in it.

/** Takes keys out of output. Keys and bytes are texts of one character per byte: searching needs no borders. */
export function createMask(keys: readonly string[], keyMark: string): StreamMask {
  const texts = keys.map((key) => Buffer.from(key).toString("latin1"));
  let waiting = "";
  const bytes = (text: string) => Buffer.from(text, "latin1");

  /** Where a key begins whose rest has not arrived, from one place on; the end if none does. */
  function beginningOfKey(text: string, from: number): number {
    let first = text.length;
    for (const key of texts) {
      for (let at = Math.max(from, text.length - key.length + 1); at < first; at++) {
        if (key.startsWith(text.slice(at))) first = at;
      }
    }
    return first;
  }

  /** The first key from one place on that begins before another; the longest of those. */
  function findKey(text: string, from: number, before: number) {
    let found: { readonly at: number; readonly end: number } | undefined;
    for (const key of texts) {
      const at = text.indexOf(key, from);
      if (at !== -1 && at < (found?.at ?? before)) found = { at, end: at + key.length };
    }
    return found;
  }

  function clean(text: string, isEnd: boolean): Buffer {
    let said = "";
    let from = 0;
    for (;;) {
      const before = isEnd ? text.length : beginningOfKey(text, from);
      const found = findKey(text, from, before);
      said += text.slice(from, found?.at ?? before);
      waiting = text.slice(before);
      if (found === undefined) return bytes(said);
      said += keyMark;
      from = found.end;
    }
  }

  return {
    push: (chunk) => clean(waiting + chunk.toString("latin1"), false),
    end: () => clean(waiting, true),
  };
}

/**
 * Kills a process group, and what left it but carries the mark; stopped first, so that none starts more.
 */
export function killMarked(pid: number, mark: string): void {
  const fs = process.getBuiltinModule("node:fs");
  function signal(pid: number, name: NodeJS.Signals): void {
    try {
      process.kill(pid, name);
    } catch {
      // Gone.
    }
  }

  const leader = process.platform === "win32" ? pid : -pid;
  signal(leader, "SIGSTOP");
  const stopped = new Set<number>();
  for (let before = -1; before !== stopped.size; ) {
    before = stopped.size;
    let names: string[] = [];
    try {
      names = fs.readdirSync("/proc");
    } catch {
      // No such system: the group is what there is.
    }
    for (const name of names) {
      const other = Number(name);
      if (!Number.isInteger(other) || other === process.pid || stopped.has(other)) continue;
      try {
        if (!fs.readFileSync(`/proc/${name}/environ`, "latin1").includes(mark)) continue;
      } catch {
        continue;
      }
      signal(other, "SIGSTOP");
      stopped.add(other);
    }
  }
  signal(leader, "SIGKILL");
  for (const other of stopped) signal(other, "SIGKILL");
}

interface KeeperParts {
  readonly createWriter: typeof createJobWriter;
  readonly createMask: typeof createMask;
  readonly killMarked: typeof killMarked;
}

/**
 * Runs a detached job to its end: writes its output, and how it ended. It is a process of its own,
 * which outlives the host; a bundle has no file for it.
 */
export function keepJob({
  createWriter,
  createMask: maskOf,
  killMarked: killTree,
}: KeeperParts): void {
  const fs = process.getBuiltinModule("node:fs");
  const { spawn } = process.getBuiltinModule("node:child_process");
  const isGrouped = process.platform !== "win32";

  /** When this process started; as the host reads it of others. */
  function ownStart(): string | undefined {
    try {
      const boot = fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
      const stat = fs.readFileSync("/proc/self/stat", "utf8");
      return `${boot} ${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}`;
    } catch {
      return undefined;
    }
  }

  function keep(request: KeepRequest): void {
    const { folder, file, args, cwd, variables, mark, keys, keyMark, timeoutMs } = request;
    const writer = createWriter({ folder, mask: maskOf(keys, keyMark) });
    const child = spawn(file, args, {
      cwd,
      env: variables,
      detached: isGrouped,
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
    });
    const answer = (said: KeepAnswer) => void process.stdout.write(`${JSON.stringify(said)}\n`);
    child.once("error", ({ message }) => answer({ error: message }));
    const { pid } = child;
    if (pid === undefined) return;
    const start = ownStart();
    const known = { pid: process.pid, ...(start === undefined ? {} : { start }), childPid: pid };
    fs.writeFileSync(`${folder}/keeper.json`, JSON.stringify(known), { mode: 0o600 });
    answer({});
    let status: JobEnd["status"] = "exited";
    let isOver = false;
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            status = "timeout";
            killTree(pid, mark);
          }, timeoutMs);
    let heardAt = performance.now();
    const streams = { stdout: child.stdout, stderr: child.stderr };
    for (const [name, stream] of Object.entries(streams)) {
      stream.on("data", (chunk: Buffer) => {
        heardAt = performance.now();
        // What processes in the background say after the end is read, so that they can go on.
        if (!isOver) writer.add(chunk, name);
      });
      stream.on("error", () => {});
    }
    child.once("exit", (code, name) => {
      clearTimeout(timer);
      const exitedAt = performance.now();
      const endedAt = Date.now();
      const number =
        name === null ? 0 : process.getBuiltinModule("node:os").constants.signals[name];
      const exitCode = status === "timeout" ? null : (code ?? 128 + number);
      const finish = (): void => {
        const isClosed = Object.values(streams).every((stream) => stream.closed);
        const isQuiet = performance.now() - heardAt >= 100 || performance.now() - exitedAt >= 1000;
        if (!isClosed && !isQuiet) return void setTimeout(finish, 20);
        isOver = true;
        writer.end();
        const end: JobEnd = { status, exitCode, endedAt };
        const path = `${folder}/end.json`;
        try {
          // In one step, and never over what a host wrote that killed the job.
          fs.writeFileSync(`${path}.new`, JSON.stringify(end), { mode: 0o600 });
          fs.linkSync(`${path}.new`, path);
        } catch {
          // The folder is gone, or the end is known.
        }
        fs.rmSync(`${path}.new`, { force: true });
      };
      finish();
    });
  }

  const chunks: Buffer[] = [];
  process.stdin.on("data", (chunk: Buffer) => chunks.push(chunk));
  process.stdin.on("end", () => keep(JSON.parse(Buffer.concat(chunks).toString())));
  process.stdout.on("error", () => {});
}
