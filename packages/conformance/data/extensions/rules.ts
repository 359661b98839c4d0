// Tells the user which rules stopped a reply.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function rules(pi: ExtensionApi): void {
  pi.on("ttsr_triggered", (event, ctx) => {
    ctx.ui.notify(`Stopped by ${event.rules.map(({ name }) => name).join()}`);
  });
}
