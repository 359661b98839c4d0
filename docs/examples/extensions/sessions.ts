// Observes the begin and end of sessions, refuses to leave an unnamed one, and begins new ones.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function sessions(pi: ExtensionApi): void {
  pi.registerFlag("keep-unnamed", { type: "boolean", default: false });
  pi.on("session_start", (event, ctx) => {
    ctx.ui.setStatus("session", `${event.reason}: ${ctx.sessionManager.getSessionId()}`);
  });
  pi.on("session_before_switch", (event) => {
    if (event.reason === "new" && pi.getFlag("keep-unnamed") && pi.getSessionName() === undefined) {
      return { cancel: true };
    }
  });
  pi.registerCommand("fresh", {
    description: "Begins a new session that knows why",
    handler: async (args, ctx) => {
      await ctx.newSession({
        parentSession: ctx.sessionManager.getSessionFile(),
        setup: (session) => {
          session.appendSessionInfo(args);
        },
        // Objects from before the change belong to the previous session.
        withSession: (fresh) => fresh.ui.notify(`Now in ${fresh.sessionManager.getSessionName()}`),
      });
    },
  });
}
