import { spawn } from "node:child_process";
import { once } from "node:events";

export interface Chunk {
  /** Time since the program's start. */
  readonly seconds: number;
  readonly text: string;
}

/**
 * Runs a program and records its output with the time of each piece.
 *
 * @throws {Error} if the program fails
 */
export async function recordOutput(
  command: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
): Promise<Chunk[]> {
  const [program, ...args] = command;
  const child = spawn(program, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  const startedAt = performance.now();
  const chunks: Chunk[] = [];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    chunks.push({ seconds: (performance.now() - startedAt) / 1000, text });
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) {
    const end = chunks
      .map(({ text }) => text)
      .join("")
      .slice(-2000);
    throw new Error(`${command.join(" ")} ended with exit code ${code}:\n${end}`);
  }
  return chunks;
}

export function shortenPauses(chunks: readonly Chunk[], limitSeconds: number): Chunk[] {
  let previous = 0;
  let now = 0;
  return chunks.map(({ seconds, text }) => {
    now += Math.min(seconds - previous, limitSeconds);
    previous = seconds;
    return { seconds: now, text };
  });
}
