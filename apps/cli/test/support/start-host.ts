import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { HostProcess } from "@tau-agent/conformance";
import { onTestFinished } from "vitest";
import { makePlace, type Place, type PlaceSetup } from "./place.ts";
import { SchemaCheck } from "./schema-check.ts";

/** The host's entry point, as it is installed. */
export const binPath = fileURLToPath(new URL("../../bin/tau.js", import.meta.url));

/** How a host is started. */
export interface StartOptions {
  /** By default, a new place for the setup. */
  readonly place?: Place;
  /** The program and its first arguments; by default, the Node that runs the tests. */
  readonly command?: readonly string[];
  /** Whether stdout is read from the start; true by default. */
  readonly reads?: boolean;
  /** Whether all output is kept in `stdout`; true by default. */
  readonly keepsOutput?: boolean;
}

/**
 * A host for the running test; stopped and removed with its folder when the test ends. Every frame is
 * validated against the published schema; an invalid frame fails the test.
 */
export function startHost(
  setup: PlaceSetup = {},
  options: StartOptions = {},
): HostProcess & { readonly place: Place } {
  const { place = makePlace(setup), command = [process.execPath], reads, keepsOutput } = options;
  const check = new SchemaCheck(place);
  const host = new HostProcess([...command, binPath, ...place.arguments], place, {
    reads,
    keepsOutput,
    violation: (frame) => check.violation(frame),
  });
  onTestFinished(async () => {
    host.child.kill("SIGKILL");
    await host.ended;
    place.remove();
  });
  return Object.assign(host, { place });
}

/** Runs a command line with some input until it ends. */
export async function runHost(
  setup: PlaceSetup,
  input = "",
): Promise<{ code: number | null; stdout: string; stderr: string; afterMs: number }> {
  const host = startHost(setup);
  host.child.stdin.end(input);
  const { code, afterMs } = await host.ended;
  return { code, stdout: host.stdout, stderr: host.stderr, afterMs };
}

/** Whether a process exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isZombie(pid);
}

/** Dead, but not yet reaped by its new parent. */
function isZombie(pid: number): boolean {
  if (process.platform !== "linux") return false;
  try {
    return /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return true;
  }
}

/**
 * Waits until every process has ended. The watchdog of a killed host reads the whole process table with
 * `cat`, which takes seconds on a busy machine.
 */
export async function areGone(pids: readonly number[], withinMs = 10_000): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (pids.some(isAlive)) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}
