import { WorkspaceError } from "@tau-agent/rpc-protocol/workspace";

/**
 * Functions that signal a command and its descendants. A process is `<pid>:<start>`, so that a later
 * process with the same id is not mistaken for it. A signal goes to one id at a time: that of the command,
 * of one of its descendants, or of a process in the group that it leads. In a container, group and session
 * are 0 for every process that was started from outside; so ids below 2 are ignored, and no ancestor of
 * the shell ever gets a signal. No process is stopped or continued.
 */
export const killFunctions = `
t_table() {
  if [ -r /proc/self/stat ]; then
    for f in /proc/[0-9]*/stat; do
      { read -r l <"$f"; } 2>/dev/null || continue
      p=\${l%% *}; l=\${l##*) }; set -- $l
      [ "$1" = Z ] || printf '%s %s %s %s\\n' "$p" "$2" "$3" "\${20}"
    done
  else
    { ps -A -o pid= -o ppid= -o pgid= || ps -o pid,ppid,pgid; } 2>/dev/null |
      while read -r p a b c; do printf '%s %s %s -\\n' "$p" "$a" "$b"; done
  fi
}
t_is_safe() {
  case $1 in '' | *[!0-9]*) return 1 ;; esac
  [ "$1" -gt 1 ] || return 1
  case $t_own in *" $1 "*) return 1 ;; esac
}
t_ancestors() {
  t_own=" $$ "; t_at=$$
  while [ "$t_at" -gt 1 ]; do
    t_up=
    while read -r p a b c; do [ "$p" = "$t_at" ] && t_up=$a; done <<T_END
$t_rows
T_END
    case $t_up in '' | *[!0-9]*) return 0 ;; esac
    case $t_own in *" $t_up "*) return 0 ;; esac
    t_own="$t_own$t_up "; t_at=$t_up
  done
}
t_found() {
  if t_is_safe "$1"; then t="$t$1 " t_list="$t_list $1:$2" t_more=1; fi
}
t_tree() {
  t=' ' t_list= t_leads=
  t_rows=$(t_table)
  t_ancestors
  t_is_safe "$1" || return 0
  while read -r p a b c; do
    if [ "$p" = "$1" ]; then
      case $2 in '' | "$c") t_found "$p" "$c"; [ "$b" = "$1" ] && t_leads=$1 ;; esac
    fi
  done <<T_END
$t_rows
T_END
  [ -n "$t_list" ] || return 0
  t_more=1
  while [ -n "$t_more" ]; do
    t_more=
    while read -r p a b c; do
      case $t in *" $p "*) continue ;; esac
      if [ "$b" = "$t_leads" ]; then t_found "$p" "$c"; continue; fi
      case $t in *" $a "*) t_found "$p" "$c" ;; esac
    done <<T_END
$t_rows
T_END
  done
}
t_alive() {
  t_list=
  t_rows=$(t_table)
  t_ancestors
  for t_one in $1; do
    while read -r p a b c; do
      if [ "$p:$c" = "$t_one" ] && t_is_safe "$p"; then t_list="$t_list $t_one"; fi
    done <<T_END
$t_rows
T_END
  done
}
t_send() {
  case $1 in STOP | TSTP | TTIN | TTOU | CONT) return 1 ;; esac
  for t_one in $t_list; do
    p=\${t_one%%:*}
    t_is_safe "$p" && kill -"$1" "$p" 2>/dev/null
  done
  return 0
}
t_signal() { t_tree "$1" "$3"; t_send "$2"; printf %s "$t_list"; }
t_finish() { t_alive "$1"; t_send KILL; }
`;

const stopping = ["SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGCONT"];

/** @throws {WorkspaceError} it is not a signal, or would stop processes */
export function checkSignal(signal: string): void {
  if (!/^SIG[A-Z0-9]+$/u.test(signal)) {
    throw new WorkspaceError("failed", `Unknown signal: ${signal}`);
  }
  if (stopping.includes(signal)) {
    throw new WorkspaceError("unsupported", `${signal} is not sent in this workspace`);
  }
}

/** The request that sends a signal to a command and its descendants, and prints these processes. */
export function signalScript(process: string, signal: string): string {
  checkSignal(signal);
  if (!isProcess(process)) throw new WorkspaceError("failed", "No such process");
  const [pid, start] = process.split(":");
  return `( t_signal ${pid} ${signal.slice(3)} ${start} )`;
}

/** The request that kills those of the processes that still run. */
export function finishScript(processes: readonly string[]): string {
  return `( t_finish '${processes.filter(isProcess).join(" ")}' )`;
}

/** Whether a process can still be identified after the connection was lost. */
export function isLasting(process: string): boolean {
  return !process.endsWith(":-");
}

/** Reads the processes that a request with {@link signalScript} printed. */
export function readProcesses(body: Buffer): readonly string[] {
  return body.toString("latin1").split(" ").filter(isProcess);
}

function isProcess(text: string): boolean {
  return /^\d+:(?:\d+|-)$/u.test(text);
}
