// Reads tools, models and the context window, and changes which tools are active.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function toolsAndModels(pi: ExtensionApi): void {
  pi.registerCommand("read-only", {
    description: "Leaves only the tools that change nothing",
    handler: (_args, ctx) => {
      const harmless = ["read", "grep", "find", "ls"];
      pi.setActiveTools(
        pi
          .getAllTools()
          .map(({ name }) => name)
          .filter((name) => harmless.includes(name)),
      );
      const models = ctx.modelRegistry.getAvailable().map(({ id }) => id);
      const percent = ctx.getContextUsage()?.percent ?? 0;
      ctx.ui.notify(
        `${pi.getActiveTools().join(", ")} | ${models.join(", ")} | ${Math.round(percent)} %`,
      );
    },
  });
  pi.on("model_select", ({ model, source }) => pi.appendEntry("model", { id: model.id, source }));
  pi.on("thinking_level_select", ({ level, previousLevel }) =>
    pi.appendEntry("level", { level, previousLevel }),
  );
}
