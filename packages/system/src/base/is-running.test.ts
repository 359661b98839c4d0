import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { isRunning } from "./is-running.ts";

it("reports a process as running until it has ended", async () => {
  expect(isRunning(process.pid)).toBe(true);
  const child = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60_000)"]);
  await once(child, "spawn");
  expect(isRunning(child.pid ?? 0)).toBe(true);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(isRunning(child.pid ?? 0)).toBe(false);
});

it.runIf(existsSync("/proc/self/stat"))(
  "reports a process that is never reaped as ended",
  async () => {
    // The shell replaces itself with a program that waits for no child.
    const parent = spawn("sh", ["-c", "sleep 0 & echo $!; exec sleep 660"]);
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(line);
    await expect.poll(() => isRunning(pid), { timeout: 20_000 }).toBe(false);
    expect(() => process.kill(pid, 0)).not.toThrow();
    parent.kill("SIGKILL");
  },
);
