// Checks every tool call before it runs and every result before the model reads it.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function guard(pi: ExtensionApi): void {
  pi.on("tool_call", async (event, ctx) => {
    if (event.toolName !== "bash") return;
    const command = String(event.input.command);
    if (!command.includes("rm ")) return;
    const isAllowed = await ctx.ui.confirm("Delete files?", command, { timeout: 5000 });
    if (!isAllowed) return { block: true, reason: "Deleting files was not allowed" };
  });

  pi.on("tool_result", (event) => ({
    content: event.content.map((block) =>
      block.type === "text"
        ? { ...block, text: block.text.replaceAll(/sk-\w+/g, "[secret]") }
        : block,
    ),
  }));
}
