import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { hasProcessGroups, isGroupAlive, killGroup } from "./process-group.ts";

// Reads "+ <group>" and "- <group>" lines; the end of the input means that the host is gone.
const watchdogScript = `trap '' HUP INT TERM
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%%" $group "*} \${groups#*" $group "}" ;; esac ;;
  esac
done
for group in $groups; do kill -9 "-$group" 2>/dev/null; done`;

const pruneIntervalMs = 5_000;

/**
 * Knows the process groups a host started, so that none outlives it.
 *
 * `killAll` serves an orderly shutdown. Against a SIGKILL of the host stands one watchdog per
 * registry: a `/bin/sh` in its own session, started with the first child, that reads the group ids
 * from a pipe and kills them when the pipe ends. It costs no command anything and sees no exit
 * code. Windows has no such watchdog.
 */
export class ProcessRegistry {
  readonly #groups = new Set<number>();
  readonly #systemRoot: string | undefined;
  #watchdog: ChildProcess | undefined;
  #pruning: NodeJS.Timeout | undefined;

  constructor(options: { readonly systemRoot?: string | undefined } = {}) {
    this.#systemRoot = options.systemRoot;
  }

  /** Process groups that were alive when last looked at. */
  get size(): number {
    return this.#groups.size;
  }

  /**
   * Gets ready for a child that is about to be started, so that it can be put under watch the moment
   * it is there.
   */
  prepare(): void {
    if (hasProcessGroups) this.#watchdog ??= startWatchdog();
  }

  /** Takes charge of a group, named by the process id of its leader. */
  add(pid: number): void {
    this.#prune();
    this.#groups.add(pid);
    this.#tellWatchdog(`+ ${pid}\n`);
  }

  /** The group's leader has ended; what it left running in the background stays known. */
  leaderEnded(pid: number): void {
    if (isGroupAlive(pid)) {
      // A dead group's number may be given to somebody else, so it must not be kept for long.
      this.#pruning ??= setInterval(() => this.#prune(), pruneIntervalMs).unref();
    } else this.#remove(pid);
  }

  /** Kills one group. */
  kill(pid: number): void {
    if (this.#groups.has(pid)) killGroup(pid, this.#systemRoot);
  }

  /** Kills every group, background processes of finished commands included. */
  killAll(): void {
    for (const pid of this.#groups) killGroup(pid, this.#systemRoot);
    this.#groups.clear();
    this.#stopPruning();
    this.#watchdog?.stdin?.end();
    this.#watchdog = undefined;
  }

  [Symbol.dispose](): void {
    this.killAll();
  }

  #prune(): void {
    for (const pid of this.#groups) if (!isGroupAlive(pid)) this.#remove(pid);
  }

  #remove(pid: number): void {
    if (!this.#groups.delete(pid)) return;
    if (this.#watchdog !== undefined) this.#tellWatchdog(`- ${pid}\n`);
    if (this.#groups.size === 0) this.#stopPruning();
  }

  #stopPruning(): void {
    clearInterval(this.#pruning);
    this.#pruning = undefined;
  }

  #tellWatchdog(line: string): void {
    this.prepare();
    this.#watchdog?.stdin?.write(line);
  }
}

function startWatchdog(): ChildProcess {
  // Not imported, so that a host that runs no child does not load it.
  const { spawn } = process.getBuiltinModule("node:child_process");
  const watchdog = spawn("/bin/sh", ["-c", watchdogScript], {
    cwd: "/",
    env: {},
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  // Without a watchdog everything still works; only a SIGKILL of the host leaves children.
  watchdog.on("error", () => {});
  watchdog.stdin.on("error", () => {});
  watchdog.unref();
  (watchdog.stdin as unknown as Socket).unref();
  return watchdog;
}
