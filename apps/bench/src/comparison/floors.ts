import { fileURLToPath } from "node:url";
import type { Child } from "../child.ts";
import { settled } from "../runs.ts";
import type { Stage } from "./scenario.ts";

type Floor = "sse-client" | "answer-commands" | "pipe-reader" | "read-session";

/** Starts one of the floor programs, which do the minimum of work. */
export function startFloor({ workspace }: Stage, name: Floor, ...args: readonly string[]): Child {
  const path = fileURLToPath(new URL(`../floors/${name}.mjs`, import.meta.url));
  return workspace.spawn([process.execPath, path, ...args]);
}

/** The equivalent of a prompt for a floor program: one request, or several with tool calls in between. */
export async function runFloorPrompt(child: Child, { server }: Stage, turns = 1): Promise<void> {
  const end = settled(child);
  child.send({ url: server.baseUrl, turns });
  await end;
}
