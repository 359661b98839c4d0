import type { WorkspaceSpawnOptions } from "@tau-agent/rpc-protocol/workspace";
import { quote } from "./shell-text.ts";

/** What a command's shell needs to know. */
export interface CommandPlan {
  readonly options: Pick<WorkspaceSpawnOptions, "command" | "cwd" | "environment" | "stdin">;
  /** The folder of commands that do not name one. */
  readonly cwd: string;
  /** The shell that runs the command line. */
  readonly shell: string;
}

/**
 * Becomes the command: prints its id, or why there is no command, in the folder and with the variables of the command.
 * Its arguments are the mark, the folder and the words of the command. Descriptors 4 and 5 are the streams.
 */
const starter = `k=$1; c=$2; shift 2
t_no() { printf "%s:no:%s:\\n" "$k" "$1" >&4; exit 0; }
cd "$c" 2>/dev/null || {
  if [ -d "$c" ]; then t_no 19; elif [ -e "$c" ]; then t_no 12; else t_no 10; fi
}
unset OLDPWD
t_find() {
  case $1 in */*) [ -f "$1" ] && [ -x "$1" ]; return ;; esac
  t_path=$PATH:
  while [ -n "$t_path" ]; do
    t_file=\${t_path%%:*}; t_file=\${t_file:-.}/$1
    [ -f "$t_file" ] && [ -x "$t_file" ] && return 0
    t_path=\${t_path#*:}
  done
  return 1
}
t_find "$1" || { [ -e "$1" ] && t_no 19; t_no 10; }
t_start=$( { read -r l </proc/$$/stat; } 2>/dev/null && l=\${l##*) } && set -- $l && printf %s "\${20}")
printf "%s:pid:%s:%s:\\n" "$k" "$$" "\${t_start:--}" >&4
exec "$@" >&4 2>&5 4>&- 5>&-`;

/**
 * The request that starts a command in a new session, and prints on both streams when it has ended. A shell reports on
 * its own stderr that a signal ended its child: this distinguishes a signal from an exit code of the same number, and
 * is not shown to anyone else. A bash that reads from a socket runs `.bashrc` unless it is another shell's child.
 */
export function commandScript({ options, cwd, shell }: CommandPlan, mark: string): string {
  const { command, environment = {}, stdin } = options;
  const words = typeof command === "string" ? [shell, "-c", command] : command;
  const removed: string[] = [];
  const added: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (value === null) removed.push("-u", quote(name));
    else added.push(quote(`${name}=${value}`));
  }
  const all = [quote(starter), "sh", mark, quote(options.cwd ?? cwd), ...words.map(quote)];
  const start = ["env", ...removed, ...added, "sh", "-c", ...all].join(" ");
  return `
t_s=$(command -v setsid)
exec 4>&1 5>&2${stdin === "open" ? "" : " </dev/null"}
[ "\${SHLVL:-0}" -gt 0 ] 2>/dev/null || export SHLVL=1
{ $t_s ${start} 4>&4 5>&5; printf %s "$n@$?"; } 2>&1 | {
  m=; while IFS= read -r l; do m=$m$l; done
  c=\${l#@} g=0
  if [ "$c" -gt 384 ]; then g=$((c - 384)); elif [ "$c" -gt 256 ]; then g=$((c - 256));
  elif [ "$c" -gt 128 ] && [ -n "$m" ]; then g=$((c - 128)); fi
  if [ "$g" -gt 0 ]; then g=$(kill -l "$g" 2>/dev/null); else g=; fi
  printf '%s:end:%s:%s:\\n' ${mark} "$c" "$g" >&4
  printf '%s:end:' ${mark} >&5
}
exit 0
`;
}
