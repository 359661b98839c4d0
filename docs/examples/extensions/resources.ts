// Adds prompt templates from a folder next to the extension.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function resources(pi: ExtensionApi): void {
  const here = dirname(fileURLToPath(import.meta.url));
  pi.on("resources_discover", () => ({ promptPaths: [join(here, "prompts")] }));
}
