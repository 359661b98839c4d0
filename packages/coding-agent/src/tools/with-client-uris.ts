import type { ToolEnvironment } from "@tau-agent/system";
import type { Execute } from "./common/tool-row.ts";

/** The tools that take a path. */
const ofPaths: ReadonlySet<string> = new Set(["read", "edit", "write", "grep", "find", "ls"]);

/** Lets a tool accept a URI that the client serves as a path. */
export function withClientUris(
  execute: Execute,
  tool: string,
  { clientUris }: Pick<ToolEnvironment, "clientUris">,
): Execute {
  if (clientUris === undefined || !ofPaths.has(tool)) return execute;
  return async (args, call) => {
    const uri = typeof args.path === "string" ? clientUris.uriOf(args.path) : undefined;
    if (uri === undefined) return execute(args, call);
    // Loaded with the first such call.
    const { runOnUri } = await import("./run-on-uri.ts");
    return runOnUri({ tool, uri, args }, clientUris, call);
  };
}
