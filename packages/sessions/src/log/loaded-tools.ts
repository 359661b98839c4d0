import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { NewEntry } from "./session-log.ts";
import type { SessionTree } from "./session-tree.ts";

export const LOADED_TOOLS_ENTRY = "loaded_tools";

/** The entry that keeps tools loaded when the session is opened again. */
export function loadedToolsEntry(toolNames: readonly string[]): NewEntry {
  return { type: "custom", customType: LOADED_TOOLS_ENTRY, data: { toolNames } };
}

/**
 * The tools that a session has loaded, in that order. Those of all its branches: a move in the tree
 * must not change the request prefix.
 */
export function loadedTools({ parsed }: Pick<SessionTree, "parsed">): string[] {
  return parsed.flatMap((entry) => {
    const known = entry as KnownSessionEntry;
    if (known.type !== "custom" || known.customType !== LOADED_TOOLS_ENTRY) return [];
    const { toolNames } = isJsonObject(known.data) ? known.data : {};
    if (!Array.isArray(toolNames)) return [];
    return toolNames.filter((name): name is string => typeof name === "string");
  });
}
