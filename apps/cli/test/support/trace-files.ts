import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";

const strace = ["-f", "-qq", "--seccomp-bpf", "-e", "trace=%file", "-e", "signal=none"];
const isThere = spawnSync("strace", [...strace, "-o", "/dev/null", "true"]).status === 0;

/** The reason to skip tests that trace system calls; undefined if tracing is possible. */
export const straceIsMissing = isThere
  ? undefined
  : "strace is not installed or must not trace; scripts/install-system-tools.sh installs it where apt-get can";

/** A system call of a program that names a path. */
export interface FileCall {
  readonly name: string;
  readonly path: string;
  /** Whether the call changes the file system. */
  readonly changes: boolean;
}

/** Traces the file accesses of a program and of everything it starts. */
export class FileTrace {
  readonly #folder = mkdtempSync(join(tmpdir(), "tau-trace-"));

  constructor() {
    onTestFinished(() => rm(this.#folder, { recursive: true, force: true }));
  }

  /** The words that precede the program's command line. */
  get words(): readonly string[] {
    return ["strace", ...strace, "-y", "-s", "4096", "-o", join(this.#folder, "log")];
  }

  /** Must be called after the program has ended. */
  read(): readonly FileCall[] {
    return readFileSync(join(this.#folder, "log"), "utf8").split("\n").flatMap(callsOf);
  }
}

/** System calls that remove, change or create a path; the flags of an open show its purpose. */
const changing =
  /^(?:mk|rename|link|symlink|unlink|rmdir|ch(?:mod|own)|fchmodat|fchownat|truncate|utime|futimes|setxattr|lsetxattr|removexattr)/;
const opensToChange = /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC/;
const ofTwoPaths = /^(?:rename|link|symlink)/;

/**
 * `7 openat(AT_FDCWD</work>, "a.txt", O_RDONLY) = 3</work/a.txt>`; an interrupted call shows its paths in the
 * first line.
 */
function callsOf(line: string): FileCall[] {
  const [, name, args] = /^\d+ +(\w+)\((.*)/.exec(line) ?? [];
  if (name === undefined || args === undefined || name === "getcwd") return [];
  const changes = name.startsWith("open") ? opensToChange.test(args) : changing.test(name);
  const paths = [...args.matchAll(/(?:<((?:[^<>"\\]|\\.)*)>, )?"((?:[^"\\]|\\.)*)"/g)];
  return paths.slice(0, ofTwoPaths.test(name) ? 2 : 1).map(([, base = "/", path = ""]) => ({
    ...{ name, changes },
    path: resolve(base, path),
  }));
}
