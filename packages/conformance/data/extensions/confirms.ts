// A command that asks whether to continue.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function confirms(pi: ExtensionApi): void {
  pi.registerCommand("continue", {
    handler: async (_args, { ui }) => {
      const isWanted = await ui.confirm("Confirm", "Continue?", { timeout: 30_000 });
      ui.notify(String(isWanted));
    },
  });
}
