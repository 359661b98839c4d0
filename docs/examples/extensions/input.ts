// Changes what the user says, or handles it without the model.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function input(pi: ExtensionApi): void {
  pi.on("input", (event, ctx) => {
    if (event.text === "ping") {
      ctx.ui.notify("pong");
      return { action: "handled" };
    }
    if (!event.text.startsWith("?")) return { action: "continue" };
    const text = `Answer in one sentence: ${event.text.slice(1).trim()}`;
    return { action: "transform", text };
  });
}
