// Runs a program and notifies other extensions over the event bus.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function execAndEvents(pi: ExtensionApi): void {
  pi.events.on("ran", (data) => pi.setSessionName(String(data)));
  pi.registerCommand("run", {
    description: "Runs a program",
    handler: async (args) => {
      const [program = "", ...rest] = args.split(" ");
      const { stdout, code, truncated } = await pi.exec(program, rest, {
        timeout: 2000,
        maxBuffer: 100,
      });
      pi.events.emit("ran", `${code}:${stdout.trim()}${truncated ? "…" : ""}`);
    },
  });
}
