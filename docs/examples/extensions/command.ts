// A command, its completions and its dialogs. Prompts that begin with /deploy run it at once.
import type { ExtensionApi } from "@tau-agent/coding-agent";

const places = ["staging", "production"];

export default function deploy(pi: ExtensionApi): void {
  pi.registerCommand("deploy", {
    description: "Deploys to a place",
    getArgumentCompletions: (prefix) =>
      places
        .filter((place) => place.startsWith(prefix))
        .map((place) => ({ value: place, label: place })),
    handler: async (args, ctx) => {
      const place = args || (await ctx.ui.select("Where to?", places));
      if (place === undefined) return;
      ctx.ui.setStatus("deploy", `deploying to ${place}`);
      ctx.ui.setWidget("deploy", [`place: ${place}`], { placement: "belowEditor" });
      ctx.ui.notify(`Deployed to ${place}`, "info");
      ctx.ui.setStatus("deploy", undefined);
    },
  });
}
