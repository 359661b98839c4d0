// A tool with a built-in's name replaces it: this one records every command before it runs.
import { createBashTool } from "@mariozechner/pi-coding-agent";
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function notedBash(pi: ExtensionApi): void {
  const bash = createBashTool();
  pi.registerTool<Record<string, unknown>>({
    ...bash,
    async execute(id, params, signal, onUpdate) {
      const result = await bash.execute(id, params, signal, onUpdate);
      pi.appendEntry("noted-command", { command: params.command });
      return result;
    },
  });
}
