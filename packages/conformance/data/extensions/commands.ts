// A command that sends a message to the model itself.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function commands(pi: ExtensionApi): void {
  pi.registerCommand("mycommand", {
    description: "Speaks to the model",
    handler: async (args, ctx) => {
      ctx.ui.notify(`ran with ${args}`, "info");
      if (!ctx.isIdle()) return;
      const message = { customType: "mine", content: `from the command: ${args}`, display: true };
      pi.sendMessage(message, { triggerTurn: true });
    },
  });
  pi.registerCommand("bare", { handler: async () => {} });
}
