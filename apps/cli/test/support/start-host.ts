import { readFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { HostProcess, type HostProcessOptions } from "./host-process.ts";
import { makePlace, type Place } from "./place.ts";
import type { TranscriptSetup } from "./transcript.ts";

/** A host of the test that is running; gone with its folder when the test is over. */
export function startHost(
  setup: Partial<TranscriptSetup> = {},
  options: HostProcessOptions & { place?: Place } = {},
): HostProcess & { readonly place: Place } {
  const place = options.place ?? makePlace(setup);
  const host = new HostProcess(place, options);
  onTestFinished(async () => {
    host.child.kill("SIGKILL");
    await host.ended;
    place.remove();
  });
  return Object.assign(host, { place });
}

/** Runs a command line with some input to its end. */
export async function runHost(
  setup: Partial<TranscriptSetup>,
  input = "",
): Promise<{ code: number | null; stdout: string; stderr: string; afterMs: number }> {
  const host = startHost(setup);
  host.child.stdin.end(input);
  const { code, afterMs } = await host.ended;
  return { code, stdout: host.stdout, stderr: host.stderr, afterMs };
}

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isZombie(pid);
}

/** Dead, but not yet noticed by whoever inherited it. */
function isZombie(pid: number): boolean {
  if (process.platform !== "linux") return false;
  try {
    return /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return true;
  }
}

/** Waits until every process is gone, as a killed one needs a moment to be. */
export async function areGone(pids: readonly number[], withinMs = 2_000): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (pids.some(isAlive)) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}
