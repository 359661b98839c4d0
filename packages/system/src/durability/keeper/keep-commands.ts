import type { StartSigns } from "../../processes/sandbox.ts";
import type { failedStart } from "../../processes/start-status.ts";
import type { createFrameWriter } from "./frame-writer.ts";
import type { createJobWriter, StreamMask } from "./job-writer.ts";
import type { createStartCheck } from "./start-check.ts";

/** A command for the keeper to start. */
export interface KeepRequest {
  readonly id: string;
  readonly folder: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string>>;
  /** The mark in the environment of the command's processes. */
  readonly mark: string;
  readonly timeoutMs?: number | undefined;
  /** How to recognise that the command never ran; the program writes to its descriptor 3. */
  readonly startSigns?: StartSigns | undefined;
  /** Where the output is written, instead of beside the outcome. */
  readonly output?:
    | {
        readonly folder: string;
        /** Keys that must not be written, the longest first. */
        readonly keys: readonly string[];
        readonly keyMark: string;
      }
    | undefined;
  /** How long the command continues without an owner. */
  readonly keepMs?: number | undefined;
}

/** One line of the keeper's output. */
export interface KeeperReport {
  readonly id: string;
  /** Set once the command runs. */
  readonly pid?: number;
  /** Set if the command could not be started. */
  readonly error?: string;
  readonly code?: string | undefined;
}

/** How a kept command ended (`outcome.json`). */
export interface KeptOutcome {
  readonly exitCode: number | null;
  readonly signal?: string;
  readonly timedOut?: boolean;
  /** Whether it was ended because no host took it over in time. */
  readonly unclaimed?: boolean;
  /** Why the command never ran. */
  readonly unstarted?: string;
  /** In ms since the epoch. */
  readonly endedAt: number;
}

// Each function below runs from its own source text, so it must not use anything outside itself.

/**
 * Removes keys from output. Keys and output are strings with one character per byte, so searches
 * need not respect character boundaries.
 */
export function createMask(keys: readonly string[], keyMark: string): StreamMask {
  const texts = keys.map((key) => Buffer.from(key).toString("latin1"));
  let waiting = "";
  const bytes = (text: string) => Buffer.from(text, "latin1");

  /** Where an incomplete key at the end begins, at or after `from`; the length of the text if there is none. */
  function beginningOfKey(text: string, from: number): number {
    let first = text.length;
    for (const key of texts) {
      for (let at = Math.max(from, text.length - key.length + 1); at < first; at++) {
        if (key.startsWith(text.slice(at))) first = at;
      }
    }
    return first;
  }

  /** The first key at or after `from` that begins before `before`; the longest if several begin there. */
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
 * Kills a process group, and processes that left it but carry the mark. Stops them all first, so that
 * none can start more.
 */
export function killMarked(pid: number, mark: string): void {
  const fs = process.getBuiltinModule("node:fs");
  function signal(pid: number, name: NodeJS.Signals): void {
    try {
      process.kill(pid, name);
    } catch {
      // Already gone.
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
      // No `/proc` on this system: only the group can be killed.
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

interface CommandEnd {
  readonly code: number | null;
  readonly name: NodeJS.Signals | null;
  readonly endedFor: "timeout" | "unclaimed" | undefined;
  readonly unstarted?: string | undefined;
  readonly endedAt: number;
}

export interface KeeperParts {
  readonly createWriter: typeof createJobWriter;
  readonly createMask: typeof createMask;
  readonly createFrames: typeof createFrameWriter;
  readonly createStartCheck: typeof createStartCheck;
  readonly failedStart: typeof failedStart;
  readonly createFiles: typeof createKeeperFiles;
  readonly createWatch: typeof createCommandWatch;
  readonly killMarked: typeof killMarked;
}

/** The small files of commands. */
export function createKeeperFiles() {
  const fs = process.getBuiltinModule("node:fs");

  /** When a process started, in the host's notation; undefined if it is gone. */
  function startOf(pid: number): string | undefined {
    try {
      const boot = fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
      const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
      const words = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return words[0] === "Z" ? "ended" : `${boot} ${words[19]}`;
    } catch {
      return undefined;
    }
  }

  function hasOwner(folder: string): boolean {
    try {
      const owner = JSON.parse(fs.readFileSync(`${folder}/owner.json`, "utf8"));
      process.kill(owner.pid, 0);
      const start = startOf(owner.pid);
      return owner.start === undefined || start === undefined || start === owner.start;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "EPERM";
    }
  }

  /** Returns whether the file exists or can never be written: the folder is gone, or the end is already known. */
  function write(folder: string, name: string, value: object): boolean {
    const path = `${folder}/${name}`;
    let code: string | undefined;
    try {
      // In one step, and without overwriting the outcome that a host wrote when it killed the job.
      fs.writeFileSync(`${path}.new`, JSON.stringify(value), { mode: 0o600 });
      fs.linkSync(`${path}.new`, path);
    } catch (error) {
      ({ code } = error as NodeJS.ErrnoException);
    }
    fs.rmSync(`${path}.new`, { force: true });
    return code === undefined || code === "EEXIST" || code === "ENOENT";
  }

  function writeKeeper(folder: string, childPid: number): void {
    const start = startOf(process.pid);
    const known = { pid: process.pid, ...(start === undefined ? {} : { start }), childPid };
    write(folder, "keeper.json", known);
  }

  function writeEnd(folder: string, end: CommandEnd): boolean {
    const { code, name, endedFor, unstarted, endedAt } = end;
    return write(folder, "outcome.json", {
      exitCode: endedFor === undefined ? code : null,
      ...(endedFor === undefined && name === null ? {} : { signal: name ?? "SIGTERM" }),
      ...(endedFor === "timeout" ? { timedOut: true } : {}),
      ...(endedFor === "unclaimed" ? { unclaimed: true } : {}),
      ...(unstarted === undefined ? {} : { unstarted }),
      endedAt,
    });
  }

  return { hasOwner, writeKeeper, writeEnd };
}

/** Ends commands that time out or have no owner for too long. */
export function createCommandWatch(
  hasOwner: (folder: string) => boolean,
  killTree: typeof killMarked,
) {
  const graceMs = 2_000;
  const ownerMs = 250;

  /** Returns a function that stops the watch and says why the command was ended. */
  return ({ folder, mark, timeoutMs, keepMs }: KeepRequest, pid: number) => {
    const timers: NodeJS.Timeout[] = [];
    let endedFor: CommandEnd["endedFor"];
    const end = (reason: "timeout" | "unclaimed", isPolite: boolean): void => {
      if (endedFor !== undefined) return;
      endedFor = reason;
      if (!isPolite) {
        killTree(pid, mark);
        return;
      }
      try {
        process.kill(-pid, "SIGTERM");
      } catch {
        // Already gone.
      }
      timers.push(setTimeout(() => killTree(pid, mark), graceMs));
    };
    if (timeoutMs !== undefined) {
      const isPolite = process.platform !== "win32";
      timers.push(setTimeout(() => end("timeout", isPolite), timeoutMs));
    }
    if (keepMs !== undefined) {
      let ownedAt = performance.now();
      const look = (): void => {
        if (hasOwner(folder)) ownedAt = performance.now();
        else if (performance.now() - ownedAt > keepMs) end("unclaimed", false);
      };
      timers.push(setInterval(look, ownerMs));
    }
    return () => {
      for (const timer of timers) clearTimeout(timer);
      // Descendants may have left the group, or ignored the request to end.
      if (endedFor !== undefined) killTree(pid, mark);
      return endedFor;
    };
  };
}

/**
 * Runs commands until they end, and writes their output and outcomes. Runs in a process that outlives the host,
 * from source text because a bundle has no file for it. Reads requests as lines from stdin.
 */
export function keepCommands(parts: KeeperParts): void {
  const fs = process.getBuiltinModule("node:fs");
  const { Socket } = process.getBuiltinModule("node:net");
  const { spawn } = process.getBuiltinModule("node:child_process");
  const isGrouped = process.platform !== "win32";
  const files = parts.createFiles();
  const watch = parts.createWatch(files.hasOwner, parts.killMarked);
  // A paused host's full pipe must not block the keeper.
  const output = isGrouped
    ? new Socket({ fd: 1, readable: false, writable: true })
    : process.stdout;
  output.on("error", () => {});
  (output as { unref?: () => void }).unref?.();

  function say(report: object): void {
    // A host that does not read its pipe finds the same in the files.
    if (output.writableLength < 65_536) output.write(`${JSON.stringify(report)}\n`);
  }

  /** @throws the error of a start that failed */
  function begin({ folder, file, args, cwd, variables, output, startSigns }: KeepRequest) {
    // Only one process can create this file: it either starts the command or forbids the start.
    fs.writeFileSync(`${folder}/started`, "", { flag: "wx", mode: 0o600 });
    const mask = output && parts.createMask(output.keys, output.keyMark);
    const writer = output
      ? parts.createWriter({ folder: output.folder, mask })
      : parts.createFrames(folder);
    const more = { cwd, env: variables, detached: isGrouped, windowsHide: true };
    const status = startSigns === undefined ? [] : (["pipe"] as const);
    const child = spawn(file, args, { ...more, stdio: ["ignore", "pipe", "pipe", ...status] });
    return { child, writer };
  }

  function keep(request: KeepRequest): void {
    const { id, folder } = request;
    const fail = ({ message, code }: NodeJS.ErrnoException): void =>
      say({ id, error: message, code });
    let begun: ReturnType<typeof begin>;
    try {
      begun = begin(request);
    } catch (error) {
      fail(error as NodeJS.ErrnoException);
      return;
    }
    const { child, writer } = begun;
    child.once("error", fail);
    const { pid } = child;
    if (pid === undefined) return;
    files.writeKeeper(folder, pid);
    say({ id, pid });
    const unwatch = watch(request, pid);
    let heardAt = performance.now();
    let isOver = false;
    const { stdout, stderr } = child;
    const status = child.stdio[3] as typeof stdout | undefined;
    const start = parts.createStartCheck(
      parts.failedStart,
      request.startSigns,
      status,
      (...said) => {
        writer.add(...said);
        say({ id });
      },
    );
    for (const [name, stream] of Object.entries({ stdout, stderr })) {
      stream?.on("data", (chunk: Buffer) => {
        heardAt = performance.now();
        // Output of background processes after the end is read but dropped, so that they are not blocked.
        if (!isOver) start.take(chunk, name);
      });
      stream?.on("error", () => {});
    }
    child.once("exit", (code, name) => {
      const end = { code, name, endedFor: unwatch(), endedAt: Date.now() };
      const exitedAt = performance.now();
      let unstarted: string | undefined;
      const finish = (): void => {
        const isClosed = [stdout, stderr, status].every((stream) => stream?.closed !== false);
        const isQuiet = performance.now() - heardAt >= 100 || performance.now() - exitedAt >= 1000;
        if (!isClosed && !isQuiet) return void setTimeout(finish, 5);
        if (!isOver) unstarted = start.end(code);
        isOver = true;
        // The outcome is announced only once the disk has accepted it.
        const isThere = fs.existsSync(folder);
        if (isThere && (!writer.end() || !files.writeEnd(folder, { ...end, unstarted })))
          return void setTimeout(finish, 200);
        say({ id });
      };
      finish();
    });
  }

  let text = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk: string) => {
    const lines = (text + chunk).split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) keep(JSON.parse(line));
  });
  process.stdin.on("error", () => {});
}
