import type { ChildProcess } from "node:child_process";
import { SessionError } from "../errors.ts";
import type { CommandRunner } from "./config-value.ts";
import type { Environment } from "./environment-keys.ts";

const outputLimitBytes = 64 * 1024;

function fail(reason: string): SessionError {
  return new SessionError("bash_failed", { reason });
}

/** Stops the command with everything it started. */
function stop(child: ChildProcess): void {
  try {
    if (child.pid !== undefined && process.platform !== "win32")
      process.kill(-child.pid, "SIGKILL");
    else child.kill("SIGKILL");
  } catch {
    child.kill("SIGKILL");
  }
}

async function run(command: string, environment: Environment, timeoutMs: number): Promise<string> {
  const { spawn } = await import("node:child_process");
  return new Promise((resolve, reject) => {
    const child = spawn(command, {
      shell: true,
      // A group of its own, so that a pipeline that hangs ends as a whole.
      detached: process.platform !== "win32",
      windowsHide: true,
      env: { ...environment },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (error: SessionError | undefined) => {
      clearTimeout(timer);
      child.stdout.destroy();
      if (error === undefined) resolve(Buffer.concat(chunks).toString("utf8"));
      else reject(error);
    };
    const timer = setTimeout(() => {
      stop(child);
      settle(fail(`it took longer than ${timeoutMs} ms`));
    }, timeoutMs);
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= outputLimitBytes) chunks.push(chunk);
    });
    child.on("error", (error) => settle(fail(error.message)));
    child.on("close", (code, signal) => {
      const end = signal === null ? `exit code ${code}` : `signal ${signal}`;
      settle(code === 0 ? undefined : fail(`it ended with ${end}`));
    });
  });
}

/**
 * A runner for `!command` values: each call runs anew, but calls made while the same command runs
 * share its result. The command sees no stdin and gets 10 s.
 */
export function createCommandRunner(timeoutMs = 10_000): CommandRunner {
  const running = new Map<string, Promise<string>>();
  return (command, environment) => {
    const known = running.get(command);
    if (known !== undefined) return known;
    const result = run(command, environment, timeoutMs).finally(() => running.delete(command));
    running.set(command, result);
    return result;
  };
}
