import { attempt } from "../base/attempt.ts";
import { createProcessFinder, type ProcessSearch } from "./process-table.ts";

/** Whether children get their own process group; Windows has none. */
export const hasProcessGroups = process.platform !== "win32";

/** How many times at most to read the table again, because processes may start while it is read. */
const maxSearches = 200;
/** One pass may miss a process that starts its successor and ends during the pass. */
const enoughIdleSearches = 3;

export interface KillOrder {
  readonly leaders: ReadonlySet<number>;
  /** What {@link createProcessFinder} looks for; if undefined, nothing is searched. */
  readonly mark: string | undefined;
  readonly limit?: string | undefined;
  /** As in {@link ProcessSearch}. */
  readonly since?: ProcessSearch["since"];
  /** Default SIGKILL. */
  readonly signal?: NodeJS.Signals | undefined;
  readonly systemRoot?: string | undefined;
}

/**
 * Kills groups and everything that belongs to them, even in other groups and sessions, or sends them another
 * signal. Stops all processes before sending it: otherwise the shell of `a; b` could see `a` die and start `b`.
 */
export function killProcesses(order: KillOrder): void {
  const { leaders, mark, limit, since, signal = "SIGKILL", systemRoot } = order;
  if (!hasProcessGroups) {
    for (const pid of leaders) killTree(pid, systemRoot);
    return;
  }
  for (const pid of leaders) signalGroup(pid, "SIGSTOP");
  const strangers = mark === undefined ? [] : stopAll({ leaders, mark, limit, since });
  for (const each of goesOn(signal) ? [signal, "SIGCONT" as const] : [signal]) {
    for (const pid of leaders) signalGroup(pid, each);
    for (const pid of strangers) signalProcess(pid, each);
  }
}

/** Whether a stopped process must continue to receive a signal. */
function goesOn(signal: NodeJS.Signals): boolean {
  return signal !== "SIGKILL" && signal !== "SIGSTOP";
}

function stopAll(search: ProcessSearch): ReadonlySet<number> {
  const finder = createProcessFinder(search);
  const stopped = new Set<number>();
  for (let idle = 0, count = 0; idle < enoughIdleSearches && count < maxSearches; count += 1) {
    const before = stopped.size;
    for (const pid of finder.findNew()) {
      signalProcess(pid, "SIGSTOP");
      stopped.add(pid);
    }
    idle = stopped.size === before ? idle + 1 : 0;
  }
  return stopped;
}

export function isGroupAlive(pid: number): boolean {
  return signalGroup(hasProcessGroups ? pid : -pid, 0);
}

function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  return signalProcess(-pid, signal);
}

function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  // Already gone, or (macOS) only zombies.
  return attempt(() => process.kill(pid, signal)) ?? false;
}

// By absolute path: taskkill may not be on the PATH, and an unhandled spawn error would crash the host.
function killTree(pid: number, systemRoot = "C:\\Windows"): void {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const taskkill = `${systemRoot}\\System32\\taskkill.exe`;
  const killer = spawn(taskkill, ["/F", "/T", "/PID", String(pid)], {
    stdio: "ignore",
    windowsHide: true,
  });
  killer.on("error", () => {});
  killer.unref();
}
