import type { ExtensionTool } from "../api/tool.ts";

type OldExecute = (...given: readonly unknown[]) => ReturnType<ExtensionTool["execute"]>;

/**
 * The tools that a factory returns instead of registering them. These are the custom tools of some pi-compatible
 * hosts: their `execute` receives the progress callback before the context and the signal.
 */
export function madeTools(made: unknown): ExtensionTool[] {
  return [made].flat().filter(isTool).map(inOurOrder);
}

function isTool(made: unknown): made is ExtensionTool {
  if (typeof made !== "object" || made === null) return false;
  const { name, execute } = made as Partial<ExtensionTool>;
  return typeof name === "string" && typeof execute === "function";
}

function inOurOrder(tool: ExtensionTool): ExtensionTool {
  const execute = tool.execute.bind(tool) as unknown as OldExecute;
  return {
    ...tool,
    execute: (...[id, params, signal, onUpdate, context]: readonly unknown[]) =>
      execute(id, params, onUpdate, context, signal),
  };
}
