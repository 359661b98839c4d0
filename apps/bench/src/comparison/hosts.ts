import type { Child } from "../child.ts";
import type { Exchange } from "../model-server.ts";
import type { Contestant, Stage } from "./scenario.ts";

/** The tools that pi also has; some of them are off by default there. */
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

/** The times from request to request, in ms. */
export function turnTimes(exchanges: readonly Exchange[]): number[] {
  return exchanges.slice(1).map(({ arrived }, index) => {
    return arrived - (exchanges[index]?.arrived ?? Number.NaN);
  });
}
