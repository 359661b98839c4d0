import { existsSync } from "node:fs";
import nodePath, { join, type PlatformPath } from "node:path";
import { readJsonFile, readJsonIn, type WorkspaceFiles } from "@tau-agent/system";

/** Where the project is, if it is on another machine. */
interface McpWorkspace {
  readonly files: Pick<WorkspaceFiles, "stat" | "read">;
  /** The path functions of its platform. */
  readonly path: PlatformPath;
}

export interface McpPlaces {
  readonly agentDirectory: string;
  readonly cwd: string;
  /** The workspace that `cwd` is in; by default this machine. */
  readonly workspace?: McpWorkspace | undefined;
  /** Whether the project's own files are used. */
  readonly isProjectTrusted: boolean;
  /** Variables with provider keys, which a project's file must not name. */
  readonly keyVariables: () => Iterable<string>;
}

export function userFile(agentDirectory: string): string {
  return join(agentDirectory, "mcp.json");
}

/** A project's files, the weaker one first. */
export function projectFiles(cwd: string, path: PlatformPath = nodePath): readonly string[] {
  return [path.join(cwd, ".pi", "mcp.json"), path.join(cwd, ".mcp.json")];
}

/**
 * The files of a trusted project, the weaker one first, with the functions to read them; none if it is not trusted.
 */
export function trustedFiles({ agentDirectory, cwd, isProjectTrusted, workspace }: McpPlaces) {
  if (!isProjectTrusted) return [];
  const own = userFile(agentDirectory);
  const paths = projectFiles(cwd, workspace?.path);
  if (workspace !== undefined) {
    const { files } = workspace;
    return paths.map((path) => ({
      isThere: async () => (await files.stat(path)) !== undefined,
      read: () => readJsonIn(files, path),
    }));
  }
  return paths
    .filter((path) => path !== own)
    .map((path) => ({ isThere: async () => existsSync(path), read: () => readJsonFile(path) }));
}
