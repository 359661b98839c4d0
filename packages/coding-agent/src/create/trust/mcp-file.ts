import { projectFiles, readEntry, userFile } from "@tau-agent/mcp";
import { isJsonObject, nearestHint, SessionError } from "@tau-agent/rpc-protocol/plain";
import { readJsonFile } from "@tau-agent/system";
import { keepTrustAcross } from "./trust.ts";

/** The place of `mcp.json`: the user's own or the project's. */
export interface McpFilePlace {
  readonly agentDirectory: string;
  readonly cwd: string;
  readonly isLocal: boolean;
}

/**
 * Adds a server to `mcp.json`, or replaces it; comments and other content stay.
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

/** The names of the servers in the user's file and in the project's files, trusted or not. */
export async function mcpServerNames({
  agentDirectory,
  cwd,
}: Omit<McpFilePlace, "isLocal">): Promise<string[]> {
  const paths = [userFile(agentDirectory), ...projectFiles(cwd)];
  return (await Promise.all(paths.map(namesIn))).flat();
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
      const { reason, message } = file.diagnostic;
      throw new SessionError("invalid_settings", {
        path,
        reason: `${reason ?? message}; the file was left as it is`,
      });
    }
    if (!(await namesIn(path)).includes(name)) continue;
    await save(place, path, name, undefined);
    return path;
  }
  const others = place.isLocal ? [userFile(place.agentDirectory)] : projectFiles(place.cwd);
  for (const path of others) {
    if (!(await namesIn(path)).includes(name)) continue;
    const hint = ` in ${paths.join(" or ")}; ${path} has one: ${place.isLocal ? "leave out" : "add"} -l`;
    throw new SessionError("mcp_server_not_found", { server: name, hint });
  }
  const names = await Promise.all(paths.map(namesIn));
  throw new SessionError("mcp_server_not_found", {
    server: name,
    hint: nearestHint(name, names.flat()),
  });
}

async function namesIn(path: string): Promise<string[]> {
  const file = await readJsonFile(path);
  const servers = file.kind === "object" ? file.value.mcpServers : undefined;
  return isJsonObject(servers) ? Object.keys(servers) : [];
}

async function save(
  place: McpFilePlace,
  path: string,
  name: string,
  value: unknown,
): Promise<void> {
  // Loaded only for a change.
  const { saveSettings } = await import("@tau-agent/system/save-settings");
  const write = () => saveSettings(path, [{ key: `mcpServers.${name}`, value }]);
  // The user's own change must not revoke the trust in a project.
  if (place.isLocal) await keepTrustAcross(place, write);
  else await write();
}
