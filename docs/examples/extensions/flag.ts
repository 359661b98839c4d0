// A flag of the command line: `tau --reader-level child`.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function readerLevel(pi: ExtensionApi): void {
  pi.registerFlag("reader-level", {
    type: "string",
    default: "adult",
    description: "Whom answers are written for",
  });
  pi.on("before_agent_start", (event) => ({
    systemPrompt: `${event.systemPrompt}\n\nWrite for this reader: ${pi.getFlag("reader-level")}.`,
  }));
}
