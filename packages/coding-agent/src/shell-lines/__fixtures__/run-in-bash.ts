import { spawnSync } from "node:child_process";

/** Tells of each command instead of running it, and ends functions that call themselves without end. */
const prelude = `
command_not_found_handle() { local IFS=' '; printf '%s\\0' "$*" >&9; }
env() { while [[ $1 == *=* ]]; do shift; done; "$@"; }
bash() { if [[ $1 == -c ]]; then (eval "$2"); fi; }
PATH=/nowhere
FUNCNEST=100
`;

/**
 * Runs lines in bash without any program on its path.
 *
 * @returns for each line, the commands that it tried to run
 */
export function commandsThatBashRuns(lines: readonly string[]): string[][] {
  const script = lines.map(
    (line) => `( eval ${quote(line)} ) > /dev/null 2>&1 < /dev/null; printf '\\1\\0' >&9`,
  );
  const { stdout } = spawnSync("/bin/bash", ["-c", `exec 9>&1\n${prelude}\n${script.join("\n")}`], {
    env: {},
    encoding: "utf8",
  });
  return stdout.split("\u0001\0").slice(0, -1).map((text) => text.split("\0").slice(0, -1));
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
