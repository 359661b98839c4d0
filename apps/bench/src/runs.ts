import { setTimeout as sleep } from "node:timers/promises";
import type { Child } from "./child.ts";
import { now } from "./clock.ts";
import type { Frame } from "./frame-receiver.ts";
import { summarize } from "./measurement.ts";
import type { RemoteModelServer } from "./remote-model-server.ts";

const SETTLE_MS = 1_000;

export async function runPrompt(child: Child): Promise<void> {
  const end = settled(child);
  await child.request("prompt", { message: "go" });
  await end;
}

/** Resolves at the end of the current or next run. */
export function settled(child: Child): Promise<Frame> {
  return child.next((frame) => frame.type === "agent_settled");
}

/** The memory of a process once it has settled, in MiB. */
export async function settledMib(child: Child): Promise<number> {
  await sleep(SETTLE_MS);
  return child.proportionalMib();
}

/** How long an action took, in ms. */
export async function timed(action: () => Promise<unknown>): Promise<number> {
  const start = now();
  await action();
  return now() - start;
}

/** The CPU time that an action cost a process, in µs. */
export async function cpuOf(child: Child, action: () => Promise<unknown>): Promise<number> {
  const before = child.cpuMicroseconds();
  await action();
  return child.cpuMicroseconds() - before;
}

/** The median of repeated measurements. */
export async function medianOf(count: number, measure: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let index = 0; index < count; index++) values.push(await measure());
  return summarize(values).median;
}

/** The time from a prompt to the model request that it causes, in ms; returns after the end of the run. */
export async function promptToRequest(child: Child, server: RemoteModelServer): Promise<number> {
  await server.reply();
  const begun = now();
  await runPrompt(child);
  const [exchange] = await server.exchanges();
  return (exchange?.arrived ?? Number.NaN) - begun;
}

/** The time from a command to the arrival of its response, in ms, excluding the parsing of the response. */
export async function timedRequest(
  child: Child,
  type: string,
  fields: Frame = {},
): Promise<number> {
  const start = now();
  await child.request(type, fields);
  return child.lastFrameAt - start;
}
