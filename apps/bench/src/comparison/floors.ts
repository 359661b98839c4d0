import { fileURLToPath } from "node:url";
import type { Child } from "../child.ts";
import { settled } from "../runs.ts";
import type { Stage } from "./scenario.ts";

type Floor = "sse-client" | "answer-commands" | "pipe-reader" | "read-session";

/** Starts one of the programs that do the least. */
export function startFloor({ workspace }: Stage, name: Floor, ...args: readonly string[]): Child {
  const path = fileURLToPath(new URL(`../floors/${name}.mjs`, import.meta.url));
  return workspace.spawn([process.execPath, path, ...args]);
}

/** What a prompt is to a host: a request, or several with tool calls between them. */
export async function runFloorPrompt(child: Child, { server }: Stage, turns = 1): Promise<void> {
  const end = settled(child);
  child.send({ url: server.baseUrl, turns });
  await end;
}
