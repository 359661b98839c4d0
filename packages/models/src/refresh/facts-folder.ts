import { join } from "node:path";

/** The folder of refreshed facts, with a file for each provider, so that a start reads only what it needs. */
export function factsFolder(agentDirectory: string): string {
  return join(agentDirectory, "model-facts");
}
