import type { ToolCallContext } from "@tau-agent/agent";
import type { ToolEnvironment } from "@tau-agent/system";
import type { NamedTool } from "./common/tool-row.ts";

/** The tools that take a path. */
const ofPaths: ReadonlySet<string> = new Set(["read", "edit", "write", "grep", "find", "ls"]);

/** A tool that takes a URI that the client serves for a path. */
export function withClientUris<Name extends string>(
  tool: NamedTool<Name>,
  { clientUris }: Pick<ToolEnvironment, "clientUris">,
): NamedTool<Name> {
  if (clientUris === undefined || !ofPaths.has(tool.name)) return tool;
  const execute = async (args: Record<string, unknown>, call: ToolCallContext) => {
    const uri = typeof args.path === "string" ? clientUris.uriOf(args.path) : undefined;
    if (uri === undefined) return tool.execute(args, call);
    // Loaded with the first of them.
    const { runOnUri } = await import("./run-on-uri.ts");
    return runOnUri({ tool: tool.name, uri, args }, clientUris, call);
  };
  return Object.defineProperties({ execute } as NamedTool<Name>, {
    ...Object.getOwnPropertyDescriptors(tool),
    execute: { value: execute, enumerable: true },
  });
}
