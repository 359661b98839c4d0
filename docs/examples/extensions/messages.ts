// Writes into the conversation and the session.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function messages(pi: ExtensionApi): void {
  pi.registerCommand("note", {
    description: "Notes something for the model",
    handler: (args) => pi.sendMessage({ customType: "note", content: args, display: true }),
  });
  pi.registerCommand("ask", {
    description: "Asks the model as if the user had",
    handler: (args) => pi.sendUserMessage(args),
  });
  pi.registerCommand("mark", {
    description: "Names the session and labels where it stands",
    handler: (args, ctx) => {
      pi.setSessionName(args);
      const leaf = ctx.sessionManager.getLeafId();
      if (leaf !== null) pi.setLabel(leaf, args);
      pi.appendEntry("mark", { at: leaf });
    },
  });
}
