import { join } from "node:path";

/** Where refreshed facts are: a file for each provider, so that a start reads only what it uses. */
export function factsFolder(agentDirectory: string): string {
  return join(agentDirectory, "model-facts");
}
