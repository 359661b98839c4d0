import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { NewEntry } from "./session-log.ts";
import type { SessionTree } from "./session-tree.ts";

export const LOADED_TOOLS_ENTRY = "loaded_tools";

/** The entry that makes loaded tools available again when the session is reopened. */
export function loadedToolsEntry(toolNames: readonly string[]): NewEntry {
  return { type: "custom", customType: LOADED_TOOLS_ENTRY, data: { toolNames } };
}

/**
 * The tools that a session has loaded, in order. Tools of all branches count, because a move in the
 * tree must not change the request prefix.
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
