import type { StartSigns } from "../../processes/sandbox.ts";
import type { failedStart } from "../../processes/start-status.ts";
import type { createFrameWriter } from "./frame-writer.ts";
import type { createJobWriter, StreamMask } from "./job-writer.ts";
import type { createStartCheck } from "./start-check.ts";

/** A command that its keeper is to start. */
export interface KeepRequest {
  readonly id: string;
  readonly folder: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string>>;
  /** What the environment of the command's processes carries. */
  readonly mark: string;
  readonly timeoutMs?: number | undefined;
  /** By what it is known that it never ran; the program writes to its descriptor 3. */
  readonly startSigns?: StartSigns | undefined;
  /** Where its output is written, instead of beside its end. */
  readonly output?:
    | {
        readonly folder: string;
        /** Keys that are not written, the longest first. */
        readonly keys: readonly string[];
        readonly keyMark: string;
      }
    | undefined;
  /** How long it runs on without an owner. */
  readonly keepMs?: number | undefined;
}

/** A line of the keeper. */
export interface KeeperReport {
  readonly id: string;
  /** It runs. */
  readonly pid?: number;
  /** It could not be started. */
  readonly error?: string;
  readonly code?: string | undefined;
}

/** How a kept command ended (`outcome.json`). */
export interface KeptOutcome {
  readonly exitCode: number | null;
  readonly signal?: string;
  readonly timedOut?: boolean;
  /** Nobody took it over in time. */
  readonly unclaimed?: boolean;
  /** Why it never ran. */
  readonly unstarted?: string;
  /** In ms since the epoch. */
  readonly endedAt: number;
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

  /** When a process started, as the host reads it; undefined if it is gone. */
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

  /** Whether it is there, or never will be: the folder is gone, or the end is known. */
  function write(folder: string, name: string, value: object): boolean {
    const path = `${folder}/${name}`;
    let code: string | undefined;
    try {
      // In one step, and never over what a host wrote that killed the job.
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

/** Ends commands whose time is over, or that nobody wants. */
export function createCommandWatch(
  hasOwner: (folder: string) => boolean,
  killTree: typeof killMarked,
) {
  const graceMs = 2_000;
  const ownerMs = 250;

  /** Returns what stops it, and says why the command was ended. */
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
        // Gone.
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
      // What it started may have left its group, or not have ended when it was asked to.
      if (endedFor !== undefined) killTree(pid, mark);
      return endedFor;
    };
  };
}

/**
 * Runs commands to their ends: writes their output, and how they ended. It is a process of its own,
 * which outlives the host; a bundle has no file for it. It reads requests as lines of stdin.
 */
export function keepCommands(parts: KeeperParts): void {
  const fs = process.getBuiltinModule("node:fs");
  const { Socket } = process.getBuiltinModule("node:net");
  const { spawn } = process.getBuiltinModule("node:child_process");
  const isGrouped = process.platform !== "win32";
  const files = parts.createFiles();
  const watch = parts.createWatch(files.hasOwner, parts.killMarked);
  // The pipe of a paused host must not stop it.
  const output = isGrouped
    ? new Socket({ fd: 1, readable: false, writable: true })
    : process.stdout;
  output.on("error", () => {});
  (output as { unref?: () => void }).unref?.();

  function say(report: object): void {
    // A host that does not read looks at the files.
    if (output.writableLength < 65_536) output.write(`${JSON.stringify(report)}\n`);
  }

  /** @throws the error of a start that failed */
  function begin({ folder, file, args, cwd, variables, output, startSigns }: KeepRequest) {
    // Only one may start it, or see to it that it never starts.
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
        // What processes in the background say after the end is read, so that they can go on.
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
        // A host waits for the end until the disk takes it.
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
