/** Why no restore or merge writes some paths of a folder. */
export const hostPlaceReason =
  "it decides what runs outside of the sandbox, so it is left as it is";

const names: ReadonlySet<string> = new Set([".pi", ".mcp.json"]);

/**
 * Whether a path decides what runs outside of a sandbox: what a host reads from its folder, and what git
 * keeps of a repository, wherever that is.
 *
 * @param path from the folder
 */
export function isHostPlace(path: string): boolean {
  // File systems that ignore case have them by other names, too.
  const parts = path.toLowerCase().split("/");
  return names.has(parts[0] ?? "") || parts.includes(".git");
}
