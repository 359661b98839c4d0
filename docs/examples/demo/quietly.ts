import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SHOWN_LINES = 25;

/**
 * Runs a shell command with its output in a file, and prints a single line. If it fails, the end of its
 * output and the file's path are printed, and the process exits with its code.
 */
export async function quietly(title: string, command: string): Promise<void> {
  const log = join(mkdtempSync(join(tmpdir(), "tau-build-")), "build.log");
  const output = openSync(log, "w");
  const isTerminal = process.stdout.isTTY === true;
  const startedAt = performance.now();
  // On a pipe there is one line, too: the one with the result.
  if (isTerminal) process.stdout.write(`${title} …`);
  const child = spawn(command, { shell: true, stdio: ["ignore", output, output] });
  const [code] = (await once(child, "close")) as [number | null];
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const start = isTerminal ? "\r" : "";
  if (code === 0) {
    console.log(`${start}${title}: ${seconds} s (log: ${log})`);
    return;
  }
  const lines = readFileSync(log, "utf8").trimEnd().split("\n").slice(-SHOWN_LINES);
  console.log(`${start}${title} failed. The end of ${log}:\n${lines.join("\n")}`);
  process.exit(code ?? 1);
}
