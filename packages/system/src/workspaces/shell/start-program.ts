import { spawn } from "node:child_process";
import type { ShellCarrier } from "./open-shell.ts";

/** Starts a program as a carrier; its group ends with it. */
export function startProgram(
  [file = "", ...args]: readonly string[],
  environment: Readonly<Record<string, string>>,
): ShellCarrier {
  const child = spawn(file, args, {
    env: environment,
    detached: process.platform !== "win32",
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
  });
  let line: string | undefined;
  child.stderr.on("data", (chunk: Buffer) => {
    line =
      String(chunk)
        .split(/\r?\n/u)
        .findLast((text) => text.trim() !== "") ?? line;
  });
  child.stderr.pause();
  child.stdin.on("error", () => undefined);
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  child.on("error", (error) => resolve(error.message));
  child.on("exit", (code, signal) => {
    const reason =
      signal === null ? `its program ended with ${code}` : `${signal} ended its program`;
    const timer = setTimeout(() => resolve(reason), 500);
    child.on("close", () => {
      clearTimeout(timer);
      resolve(reason);
    });
  });
  return {
    stdout: child.stdout,
    stderr: child.stderr,
    write: (bytes) =>
      new Promise((done) => {
        child.stdin.write(bytes, () => done());
      }),
    endInput: () => child.stdin.end(),
    lastLine: () => line,
    ended,
    stop: () => {
      if (child.pid === undefined) return;
      try {
        process.kill(process.platform === "win32" ? child.pid : -child.pid, "SIGKILL");
      } catch {
        // It has ended.
      }
    },
  };
}
