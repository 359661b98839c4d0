import type { Child } from "./child.ts";
import { now } from "./clock.ts";
import type { Frame } from "./frame-receiver.ts";

export async function runPrompt(child: Child): Promise<void> {
  const end = settled(child);
  await child.request("prompt", { message: "go" });
  await end;
}

/** The end of the current or next run. */
export function settled(child: Child): Promise<Frame> {
  return child.next((frame) => frame.type === "agent_settled");
}

/** How long an action took, in ms. */
export async function timed(action: () => Promise<unknown>): Promise<number> {
  const start = now();
  await action();
  return now() - start;
}

/** How long a command took until its response had arrived, in ms; not how long the response takes to parse. */
export async function timedRequest(
  child: Child,
  type: string,
  fields: Frame = {},
): Promise<number> {
  const start = now();
  await child.request(type, fields);
  return child.lastFrameAt - start;
}
