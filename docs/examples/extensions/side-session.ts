// Asks a model a side question, in a separate session that leaves the conversation alone.
import { createAgentSession, SessionManager } from "@mariozechner/pi-coding-agent";
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function sideSession(pi: ExtensionApi): void {
  pi.registerCommand("aside", {
    description: "Asks a question beside the conversation",
    handler: async (question, { model, modelRegistry, ui }) => {
      const { session } = await createAgentSession({
        sessionManager: SessionManager.inMemory(),
        model,
        modelRegistry,
        tools: [],
      });
      await session.prompt(question);
      ui.notify(session.getLastAssistantText() ?? "");
      await session.dispose();
    },
  });
}
