// Adds a part and a rule to the system prompt, and shows what the prompt consists of.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function promptParts(pi: ExtensionApi): void {
  pi.on("before_agent_start", ({ systemPromptOptions }) => {
    systemPromptOptions.sections.team = "Two people read every change.";
    systemPromptOptions.promptGuidelines.push("Keep changes small.");
  });
  pi.registerCommand("prompt-parts", {
    description: "Shows the tools the system prompt speaks of",
    handler: (_args, { ui, getSystemPromptOptions, getSystemPrompt }) => {
      const { selectedTools } = getSystemPromptOptions();
      ui.notify(`${selectedTools.join(", ")} in ${getSystemPrompt().length} characters`);
    },
  });
}
