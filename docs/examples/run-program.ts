import { spawn, spawnSync } from "node:child_process";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";

/** What a program printed, and how it ended. */
export interface Finished {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** How to run a program. */
export interface RunOptions {
  /** Prepended to the PATH. */
  readonly path?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Interrupts the program (Ctrl+C) once its output contains this. */
  readonly interruptAt?: string;
}

/** The folder with this repository's commands `tau` and `pi`. */
export const commandFolder = fileURLToPath(new URL("node_modules/.bin", import.meta.url));

/** Whether this machine can run Python programs; Tau itself never does. */
export const hasPython = spawnSync("python3", ["--version"]).status === 0;

/** Runs a program to its end, in its own process group so that nothing is left behind. */
export function runProgram(
  command: readonly [string, ...string[]],
  options: RunOptions = {},
): Promise<Finished> {
  const { path = commandFolder, cwd, env, interruptAt } = options;
  const [program, ...args] = command;
  const child = spawn(program, args, {
    ...(cwd !== undefined && { cwd }),
    env: { ...process.env, ...env, PATH: `${path}${delimiter}${process.env.PATH}`, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (interruptAt === undefined || !stdout.includes(interruptAt)) return;
    // To the whole group, as a terminal does.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGINT");
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode) => resolve({ exitCode, stdout, stderr }));
  });
}
