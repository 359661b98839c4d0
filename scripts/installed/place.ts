import { type SpawnSyncReturns, spawnSync } from "node:child_process";

/** Where installed packages are tried: with an empty home, so that none of this user's files are found. */
export interface Place {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input?: string;
}

/** Runs a program to its end; returns its output without the last line break. */
export function run(program: string, words: readonly string[], options: RunOptions): string {
  const ended = runToEnd(program, words, options);
  if (ended.status === 0) return ended.stdout.trimEnd();
  const command = [program, ...words].join(" ");
  throw new Error(
    `${command} in ${options.cwd} ended with ${ended.status ?? ended.error}:\n${ended.stderr}${ended.stdout}`,
  );
}

/** Runs a program to its end, even if it fails. */
export function runToEnd(
  program: string,
  words: readonly string[],
  { cwd, env, input = "" }: RunOptions,
): SpawnSyncReturns<string> {
  return spawnSync(program, words, { cwd, env, input, encoding: "utf8", timeout: 900_000 });
}
