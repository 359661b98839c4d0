import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { randomHex } from "../base/random.ts";
import { childLimit, hostLimit, limitName } from "./limit-mark.ts";
import { hasProcessGroups, isGroupAlive, killProcesses } from "./process-group.ts";
import { ownersVariable } from "./process-owners.ts";
import { type ProcessMoment, processMoment } from "./process-table.ts";

/** A host may take 5 s for an orderly shutdown after its input ends. */
const hostGraceSeconds = 6;

// Reads the lines "+ <group>", "- <group>" and "h" (there are other hosts). "." announces an orderly shutdown; the
// end of the input means that this host is gone. Then it kills the groups and, where there is a /proc, processes
// that carry the mark; processes of other hosts only after those had time to shut down. Uses only cat: the grep of
// small systems does not read past a NUL byte.
const watchdogScript = `trap '' HUP INT TERM
groups=' '
hosts=
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%%" $group "*} \${groups#*" $group "}" ;; esac ;;
    h) hosts=1 ;;
    .) exit ;;
  esac
done
kill_marked() {
  for search in 1 2 3 4 5 6 7 8 9 10; do
    found=
    for process in /proc/[0-9]*; do
      [ -r "$process/environ" ] || continue
      case $(cat "$process/environ") in
        *"$1"*) ;;
        *${ownersVariable}=*) continue ;;
        *) case $(cat "$process/limits") in *"$2"*) ;; *) continue ;; esac ;;
      esac
      kill -STOP "\${process#/proc/}"
      found="$found \${process#/proc/}"
    done
    [ -n "$found" ] || break
    kill -9 $found
  done
}
for group in $groups; do kill -9 "-$group"; done
kill_marked "$1." "${limitName}$2"
[ -n "$hosts" ] && sleep ${hostGraceSeconds} && kill_marked "$1-" /`;

const pruneIntervalMs = 5_000;

export interface PlannedChild {
  /** The mark in the environment of its descendants; none if the child starts no processes. */
  readonly mark: string | undefined;
  /** The mark of descendants that empty their environment. */
  readonly limit?: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Tracks the process groups a host started, so that none of their processes outlives it. On Linux it also finds
 * processes that have left their group, by a mark in their environment.
 *
 * `killAll` is for an orderly shutdown. If the host gets a SIGKILL, one watchdog per registry cleans up: a
 * `/bin/sh` in its own session, started with the first child, that reads the group ids from a pipe and kills them
 * when the pipe ends. It adds no cost to commands and sees no exit codes. Windows has no such watchdog.
 */
export class ProcessRegistry {
  /** Random, so that no other host's mark contains it. */
  readonly #id = randomHex(8);
  readonly #limit = hostLimit(this.#id);
  #markedCount = 0;
  /** Before the first child was marked. */
  #since: ProcessMoment | undefined;
  readonly #groups = new Set<number>();
  readonly #systemRoot: string | undefined;
  #watchdog: ChildProcess | undefined;
  #pruning: NodeJS.Timeout | undefined;

  constructor(options: { readonly systemRoot?: string | undefined } = {}) {
    this.#systemRoot = options.systemRoot;
  }

  /** The number of process groups that were alive at the last check. */
  get size(): number {
    return this.#groups.size;
  }

  /**
   * Prepares for a child that is about to be started, so that it is watched from the beginning. A
   * child that is `alone` starts no others, so no search for descendants is needed.
   */
  prepare(variables: Readonly<Record<string, string>>, alone = false): PlannedChild {
    if (!hasProcessGroups) return { mark: undefined, variables };
    this.#watchdog ??= startWatchdog([this.#id, this.#limit], variables.PATH);
    return alone ? { mark: undefined, variables } : this.#mark(variables, ".");
  }

  /**
   * Prepares for a host that other code starts and ends. It ends by itself when this host does, and
   * gets time to do so.
   *
   * @param environment the environment that the other host inherits
   * @returns the variables to add to that environment
   */
  prepareHost(environment: Readonly<Record<string, string | undefined>>): PlannedChild {
    if (!hasProcessGroups) return { mark: undefined, variables: {} };
    this.#watchdog ??= startWatchdog([this.#id, this.#limit], environment.PATH);
    this.#tellWatchdog("h\n");
    const owners = environment[ownersVariable] ?? "";
    return this.#mark({ [ownersVariable]: owners }, "-");
  }

  hostEnded({ mark }: PlannedChild): void {
    killProcesses({ leaders: new Set(), mark, since: this.#since });
  }

  /** Registers a process group by its leader's process id. */
  add(pid: number): void {
    this.#prune();
    this.#groups.add(pid);
    this.#tellWatchdog(`+ ${pid}\n`);
  }

  /** The group's leader has ended; its background processes stay registered. */
  leaderEnded(pid: number): void {
    if (isGroupAlive(pid)) {
      // The system may reuse a dead group's id, so do not keep it for long.
      this.#pruning ??= setInterval(() => this.#prune(), pruneIntervalMs).unref();
    } else this.#remove(pid);
  }

  /** Kills one child with all its descendants, or sends them another signal. */
  kill(pid: number, { mark, limit }: PlannedChild, signal?: NodeJS.Signals): void {
    // Processes that left the group are found by the mark; the number of a dead group may have been reused.
    const leaders = new Set(this.#groups.has(pid) ? [pid] : []);
    const [since, systemRoot] = [this.#since, this.#systemRoot];
    killProcesses({ leaders, mark, limit, since, signal, systemRoot });
  }

  /** Kills everything, background processes of finished commands included. */
  killAll(): void {
    const mark = this.#markedCount === 0 ? undefined : this.#id;
    const [leaders, limit, since] = [this.#groups, this.#limit, this.#since];
    killProcesses({ leaders, mark, limit, since, systemRoot: this.#systemRoot });
    this.#groups.clear();
    this.#stopPruning();
    this.#watchdog?.stdin?.end(".\n");
    this.#watchdog = undefined;
  }

  [Symbol.dispose](): void {
    this.killAll();
  }

  #mark(variables: Readonly<Record<string, string>>, kind: "." | "-"): PlannedChild {
    if (this.#markedCount === 0) this.#since = processMoment();
    this.#markedCount += 1;
    const mark = `${this.#id}${kind}${this.#markedCount}/`;
    const owners = `${variables[ownersVariable] ?? ""}${mark}`;
    const isSeen = kind === "." && process.platform === "linux";
    const limit = isSeen ? childLimit(this.#limit, this.#markedCount) : undefined;
    return { mark, limit, variables: { ...variables, [ownersVariable]: owners } };
  }

  #prune(): void {
    for (const pid of this.#groups) if (!isGroupAlive(pid)) this.#remove(pid);
  }

  #remove(pid: number): void {
    if (!this.#groups.delete(pid)) return;
    this.#tellWatchdog(`- ${pid}\n`);
    if (this.#groups.size === 0) this.#stopPruning();
  }

  #stopPruning(): void {
    clearInterval(this.#pruning);
    this.#pruning = undefined;
  }

  #tellWatchdog(line: string): void {
    this.#watchdog?.stdin?.write(line);
  }
}

function startWatchdog(marks: readonly string[], searchPath = ""): ChildProcess | undefined {
  // Imported on demand, so that a host without children does not load it.
  const { spawn } = process.getBuiltinModule("node:child_process");
  const watchdog = spawn("/bin/sh", ["-c", watchdogScript, "sh", ...marks], {
    cwd: "/",
    env: { PATH: `${searchPath}:/usr/bin:/bin` },
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  // Everything works without a watchdog; only after a SIGKILL of the host would children stay.
  watchdog.on("error", () => {});
  // There is no pipe if too many files are open; the next child tries again.
  const pipe = watchdog.stdin as Socket | undefined;
  if (pipe === undefined) return undefined;
  pipe.on("error", () => {});
  watchdog.unref();
  pipe.unref();
  return watchdog;
}
