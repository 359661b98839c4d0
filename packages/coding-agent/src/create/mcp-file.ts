import { SessionError } from "../base/errors.ts";
import { isJsonObject, readJsonFile } from "../base/files/read-json.ts";
import { projectFiles, userFile } from "../mcp/config/places.ts";
import { readEntry } from "../mcp/config/read-entry.ts";
import { keepTrustAcross } from "./trust.ts";

/** The user's own file, or the project's. */
export interface McpFilePlace {
  readonly agentDirectory: string;
  readonly cwd: string;
  readonly isLocal: boolean;
}

/**
 * Adds a server to `mcp.json`, or replaces it; comments and all else stay.
 *
 * @returns the path of the file
 * @throws {SessionError} `invalid_mcp_server`; `invalid_settings` when the file does not parse
 */
export async function addMcpServer(
  place: McpFilePlace,
  name: string,
  entry: Readonly<Record<string, unknown>>,
): Promise<string> {
  const read = readEntry(name, entry, place.isLocal ? "project" : "user");
  if ("problem" in read) {
    throw new SessionError("invalid_mcp_server", { server: name, reason: read.problem });
  }
  const [path = ""] = place.isLocal ? projectFiles(place.cwd) : [userFile(place.agentDirectory)];
  await save(place, path, name, entry);
  return path;
}

/**
 * Removes a server from `mcp.json`.
 *
 * @returns the path of the file
 * @throws {SessionError} `mcp_server_not_found`; `invalid_settings` when the file does not parse
 */
export async function removeMcpServer(place: McpFilePlace, name: string): Promise<string> {
  const paths = place.isLocal ? projectFiles(place.cwd) : [userFile(place.agentDirectory)];
  for (const path of paths) {
    const file = await readJsonFile(path);
    if (file.kind === "unreadable") {
      throw new SessionError("invalid_settings", { path, reason: file.diagnostic.message });
    }
    const servers = file.kind === "object" ? file.value.mcpServers : undefined;
    if (!isJsonObject(servers) || !Object.hasOwn(servers, name)) continue;
    await save(place, path, name, undefined);
    return path;
  }
  throw new SessionError("mcp_server_not_found", { server: name });
}

async function save(
  place: McpFilePlace,
  path: string,
  name: string,
  value: unknown,
): Promise<void> {
  // Loaded for a change only.
  const { saveSettings } = await import("../settings/save.ts");
  const write = () => saveSettings(path, [{ key: `mcpServers.${name}`, value }]);
  // A write of the user's own does not make a trusted project a changed one.
  if (place.isLocal) await keepTrustAcross(place, write);
  else await write();
}
