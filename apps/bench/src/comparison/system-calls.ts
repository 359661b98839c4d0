import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** The number of system calls of a main thread while something happens; needs `strace`. */
export async function countSystemCalls(
  pid: number,
  action: () => Promise<unknown>,
): Promise<number> {
  const strace = spawn("strace", ["-c", "-q", "-p", String(pid)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let summary = "";
  strace.stderr.on("data", (chunk: Buffer) => {
    summary += chunk.toString();
  });
  const exit = once(strace, "exit");
  await Promise.race([once(strace, "spawn"), exit]);
  await sleep(300);
  await action();
  strace.kill("SIGINT");
  await exit;
  const total = /^\s*100\.00\s+\S+\s+(?:\d+\s+)?(\d+)\s+(?:\d+\s+)?total/m.exec(summary);
  if (!total) throw new Error(`strace counted nothing: ${summary.slice(0, 200)}`);
  return Number(total[1]);
}
