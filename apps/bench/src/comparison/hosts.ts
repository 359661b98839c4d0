import type { Child } from "../child.ts";
import { now } from "../clock.ts";
import type { Frame } from "../frame-receiver.ts";
import type { Exchange } from "../model-server.ts";
import type { Contestant, Stage } from "./scenario.ts";

/** The tools that pi has, too; some of them are off by default there. */
export const commonTools = "read,bash,edit,write,grep,find,ls";

/** Starts a host and waits until it answers; without `args`, its sessions have no files. */
export async function startHost(
  { workspace }: Stage,
  contestant: Contestant,
  args: readonly string[] = ["--no-session"],
): Promise<Child> {
  const child = workspace.spawn(workspace.command(contestant.command, args));
  if (contestant.hello) child.send(contestant.hello);
  await child.request("get_state");
  return child;
}

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

/** The times from request to request, in ms. */
export function turnTimes(exchanges: readonly Exchange[]): number[] {
  return exchanges.slice(1).map(({ arrived }, index) => {
    return arrived - (exchanges[index]?.arrived ?? Number.NaN);
  });
}
