// Tells the model the user's answer.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function asks(pi: ExtensionApi): void {
  pi.registerCommand("ask", {
    description: "Asks for a value",
    handler: async (_, ctx) => {
      const answer = await ctx.ui.input("Branch name", "feature/...");
      pi.sendUserMessage(`the answer: ${answer ?? "none"}`);
    },
  });
}
