/** Why restores and merges leave some paths of a folder alone. */
export const hostPlaceReason =
  "it decides what runs outside of the sandbox, so it is left as it is";

const names: ReadonlySet<string> = new Set([".pi", ".mcp.json"]);

/**
 * Whether the content of a path decides what runs outside of a sandbox: files that a host reads from its
 * folder, and git's own files of any repository.
 *
 * @param path relative to the folder
 */
export function isHostPlace(path: string): boolean {
  // File systems that ignore case also find them under other spellings.
  const parts = path.toLowerCase().split("/");
  return names.has(parts[0] ?? "") || parts.includes(".git");
}
