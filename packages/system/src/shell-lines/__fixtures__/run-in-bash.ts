import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface BashRun {
  /** Programs that started, with their words: the name, a blank and the arguments. */
  readonly programs: readonly string[];
  /** Simple commands that bash was about to run, as it prints them. */
  readonly commands: readonly string[];
  /** Names in the working folder, which was empty before. */
  readonly files: readonly string[];
}

/** Real programs that start the command they are given; all other programs only log their words. */
const realPrograms = ["bash", "dash", "env", "find", "nice", "nohup", "setsid", "timeout", "xargs"];

/** Logs the words of the program, and ends immediately. */
const logger = `#!/bin/dash
IFS=' '
printf '\\036P%s' "\${0##*/} $*" >&9
`;

/** Read by every bash, including inner ones: logs each simple command before it runs, quoted, in a single write. */
const prelude = `set -T
trap 'printf "\\036D%q" "$BASH_COMMAND" >&9' DEBUG
`;

/**
 * Runs each line in an empty folder, and waits until all its processes have ended. Its variables have names that no
 * line uses; lines use `$log`.
 */
const driver = `
export BASH_ENV=/work/prelude
shopt -s nullglob dotglob
while IFS= read -r -d '' driven_line; do
  driven_log=$(
    exec 9>&1 >/dev/null 2>&1 </dev/null
    shopt -u nullglob dotglob
    source "$BASH_ENV"
    printf '\\036S' >&9
    eval "$driven_line"
  )
  driven_files=(*)
  printf '%s' "$driven_log"
  printf '\\036F%s' "\${driven_files[@]}"
  printf '\\035'
  [ \${#driven_files[@]} = 0 ] || /bin/rm -rf -- "\${driven_files[@]}"
done
`;

/**
 * Runs lines in bash, in a sandbox where programs only log their words.
 *
 * @param names the programs on the PATH
 */
export function runInBash(lines: readonly string[], names: readonly string[]): BashRun[] {
  const folder = mkdtempSync(join(tmpdir(), "bash-runs-"));
  try {
    const programs = join(folder, "bin");
    mkdirSync(programs);
    mkdirSync(join(folder, "empty"));
    for (const name of new Set(names)) writeLogger(programs, name);
    writeFileSync(join(folder, "prelude"), prelude);
    writeFileSync(join(folder, "driver"), driver);
    const { stdout, status, stderr } = spawnSync("bwrap", sandboxOf(folder), {
      input: lines.map((line) => `${line}\0`).join(""),
      encoding: "utf8",
      maxBuffer: 256 * 1024 * 1024,
      timeout: 600_000,
    });
    const runs = stdout.split("\u001d").slice(0, -1).map(toRun);
    if (runs.length !== lines.length) {
      const line = JSON.stringify(lines[runs.length]);
      throw new Error(`bash ended (${status}) at the line ${line}: ${stderr}`);
    }
    return runs;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function writeLogger(folder: string, name: string): void {
  const file = join(folder, name);
  const real = realPrograms.find((program) => program === (name === "sh" ? "dash" : name));
  if (real === undefined) {
    writeFileSync(file, logger);
    chmodSync(file, 0o755);
  } else if (existsSync(`/usr/bin/${real}`)) symlinkSync(`/usr/bin/${real}`, file);
  else copyFileSync(`/bin/${real}`, file);
}

function sandboxOf(folder: string): string[] {
  return [
    ...["--unshare-all", "--die-with-parent", "--clearenv", "--setenv", "PATH", "/work/bin"],
    ...["--setenv", "HOME", "/home"],
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"],
    // `bash -l` reads the machine's own profile.
    ...["--ro-bind", "/dev/null", "/etc/profile"],
    ...["--tmpfs", "/work", "--ro-bind", join(folder, "bin"), "/work/bin"],
    ...["--ro-bind", join(folder, "prelude"), "/work/prelude"],
    ...["--ro-bind", join(folder, "driver"), "/work/driver"],
    ...["--bind", join(folder, "empty"), "/work/empty", "--chdir", "/work/empty"],
    ...["/bin/bash", "--norc", "/work/driver"],
  ];
}

function toRun(text: string): BashRun {
  const records = text.split("\u001e");
  const begun = records.slice(records.indexOf("S") + 1);
  const all = (kind: string) =>
    begun.filter((record) => record.startsWith(kind)).map((record) => record.slice(1));
  // The first command is the `eval` of the driver.
  const [, ...commands] = all("D");
  return { programs: all("P"), commands, files: all("F").filter((name) => name !== "") };
}
